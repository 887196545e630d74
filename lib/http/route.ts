import type { bodyLimits, QuotaName, RateLimitName } from "@/lib/config/limits";
import type { SignIn } from "@/lib/config/settings";

/** A method that at least one route accepts. */
export type Method = "GET" | "HEAD" | "POST" | "OPTIONS";

/** The methods that only read. */
export const read = ["GET", "HEAD"] as const;

/** One address, and what it asks of a request: the router and the order of checks (`handler.ts`) read it. */
export type Route = Address & Checked & (Reads | Posts);

type Address = {
  /** The exact path; any other spelling is another address. */
  path: `/${string}`;
  /** The path with a slash at its end is the same address: MCP clients add or keep one. */
  takesSlash?: true;
  /** Whose headers its responses have: those of the API, of the operators' office, of the backend API, or of the public site. */
  site?: "api" | "office" | "backend";
  /** `Cache-Control` of a 200 or 304, unless its handler returns another. Every other response is `no-store`. */
  caching?: string;
  /**
   * CORS for any origin, without credentials: the headers that a request is documented to send, and a response exposes.
   */
  anyOrigin?: { sends: string; reads: string };
  /** The response is the same for everyone: the server caches it, and shared caches may. */
  isShared?: true;
  /** The response to requests without a query and our cookies is the same for everyone. It is still `no-store`. */
  isSharedWithoutCookies?: true;
  retirement?: Retirement;
  /** The page with the form that is sent here: the browser goes back to it. */
  page?: `/${string}`;
  /** A sentence that the hint of a 405 adds, and the page that its `%s` stands for. */
  otherwise?: { says: string; page: `/${string}` };
};

/** What a route may ask for, in the order of the checks. */
type Checked = {
  /** The kinds of sign-in under which the route exists; under others it is a 404. */
  under?: readonly SignIn["kind"][];
  onlyInDevelopment?: true;
  /** The route exists only if apps may register themselves. */
  onlyWithRegistration?: true;
  /** The route exists only if a scheduler may call it: if `CRON_SECRET` is set. */
  onlyWithScheduler?: true;
  /** It refuses an `API-Version` that is not supported. */
  isVersioned?: true;
  host?: "ours" | "office";
  needsBilling?: true;
  /** The page after this form needs a cookie. A browser that keeps none is told so, and the form does nothing. */
  needsCookies?: true;
  /** The name of its body limit; without one, a POST has no body. */
  takes?: keyof typeof bodyLimits;
  /** Whose request it has to be: its handler gets who that is. */
  credential?: "token" | "owner" | "operator" | "backend" | "scheduler" | "signature" | "link";
  /** Refuses someone who is signed in for the owner; the audit calls the attempt so. */
  notImpersonated?: string;
  /** The owner or operator must have proved in the last five minutes who they are. */
  needsProof?: true;
};

type Reads = {
  methods: readonly Exclude<Method, "POST">[];
  origin?: undefined;
  quota?: QuotaName;
  limit?: RateLimitName;
};

/** It has a published quota, which its answers report, or a limit. */
type Posts = {
  /** The accepted methods, in the order of `Allow`. */
  methods: readonly Method[];
  /** The pages that a POST may come from. With `any` it carries its own credential, and no cookie counts. */
  origin: "own" | "any";
} & ({ quota: QuotaName; limit?: undefined } | { limit: RateLimitName; quota?: undefined });

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
