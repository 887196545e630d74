import type { bodyLimits, QuotaName, RateLimitName } from "@/lib/config/limits";
import type { SignIn } from "@/lib/config/settings";

/** A method that at least one route accepts. */
export type Method = "GET" | "HEAD" | "POST" | "OPTIONS";

/** One address, as the router and the order of checks (`handler.ts`) read it. */
export type Route = {
  /** The exact path; any other spelling is another address. */
  path: `/${string}`;
  /** The accepted methods, in the order of `Allow`. */
  methods: readonly Method[];
  /** The kinds of sign-in under which the route exists; under others it is a 404. */
  under?: readonly SignIn["kind"][];
  onlyInDevelopment?: true;
  /** The route exists only if apps may register themselves. */
  onlyWithRegistration?: true;
  /** The name of its published quota, which its answers report. */
  quota?: QuotaName;
  /** The name of its rate limit, if it has no quota. */
  limit?: RateLimitName;
  /** The name of its body limit; without one, a POST has no body. */
  takes?: keyof typeof bodyLimits;
  /** `Cache-Control` of a 200, unless its handler returns another. Every other response is `no-store`. */
  caching?: string;
  /** The page after this form needs a cookie. A browser that keeps none is told so, and the form does nothing. */
  needsCookies?: true;
  /** CORS for any origin, without credentials: the headers that a request may send, and a response exposes. */
  anyOrigin?: { sends: string; reads: string };
  /** The response is the same for everyone: the server caches it, and shared caches may. */
  isShared?: true;
  /** The same, but only for requests without a query and without our cookies. It is still `no-store`. */
  isSharedWithoutCookies?: true;
  retirement?: Retirement;
};

/** The published retirement of an operation or of a major version; `retirement.ts` has its rules. */
export type Retirement = {
  /** When it was announced: an ISO 8601 instant, as are the next two. */
  announcedAt: string;
  deprecatedAt: string;
  /** At least 90 days after the announcement, and not before the deprecation. */
  sunsetAt: string;
  /** Path of the migration guide: a document, or a section of one. */
  guide: `/docs/${string}`;
};
