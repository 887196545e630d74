import type { z } from "zod";
import type { QuotaName } from "@/lib/config/limits";
import type { PublicErrorCode } from "@/lib/http/errors";
import type { Method } from "@/lib/http/method";
import * as schemas from "@/lib/http/schemas";

/** The statuses that operations answer with; `lib/docs/responses.ts` says what each means. */
export type Status = 200 | 400 | 401 | 403 | 405 | 413 | 429 | 500 | 502 | 503;

/** What the door, the hall and the way out read of an address. */
export type ApiRoute = {
  /** What `Allow` lists, in this order. */
  methods: readonly Method[];
  /** The name of the quota it spends; without one it is not counted. */
  quota?: QuotaName;
  /** `Cache-Control` of a 200. Every other answer is `no-store`. */
  caching: string;
  /** Lets browsers on any origin ask, without credentials: the headers that they may send, and read of an answer. */
  anyOrigin?: { sends: string; reads: string };
  retirement?: Retirement;
};

/** One public operation, as the documents and the tests read it as well. */
export type Operation = ApiRoute & {
  /** The exact path; any other spelling is another address. Its folder is `app` + this path. */
  path: `/api/${string}`;
  summary: string;
  /** Who may call it: anyone, an account's session, or whoever holds a signed link. */
  access: "anyone" | "session" | "signed link";
  /** The bodies it answers with, by status. */
  answers: Readonly<Partial<Record<Status, z.ZodType>>>;
  /** What `error.code` can be, by status. */
  codes: Readonly<Partial<Record<Status, readonly PublicErrorCode[]>>>;
};

/** The published retirement of an operation or of a major version; `lib/http/retirement.ts` holds its rules. */
export type Retirement = {
  /** When it was announced: an ISO 8601 instant, as are the next two. */
  announcedAt: string;
  deprecatedAt: string;
  /** At least 90 days after the announcement, and not before the deprecation. */
  sunsetAt: string;
  /** Path of the migration guide: a document, or a section of one. */
  guide: `/docs/${string}`;
};

const stampedHeaders = "API-Version, Deprecation, Link, Sunset, X-Request-Id";

const { apiError, entitlementDenied } = schemas;

/** The refusals of the door and the hall, which every operation shares. */
const shared = {
  400: ["invalid_request"],
  405: ["method_not_allowed"],
  500: ["internal_error"],
} as const;

/** The major version that every operation is of. */
export const version1: { retirement?: Retirement } = {};

/** The register of public operations. Plain data: adding one starts here. */
export const operations = {
  health: {
    path: "/api/health",
    methods: ["GET", "HEAD", "OPTIONS"],
    summary: "Reports that the web app is up.",
    access: "anyone",
    quota: "health",
    caching: "no-store",
    answers: { 200: schemas.health, 400: apiError, 405: apiError, 429: apiError, 500: apiError },
    codes: { ...shared, 429: ["unavailable"] },
  },
  siteBanner: {
    path: "/api/site-banner",
    methods: ["GET", "HEAD", "OPTIONS"],
    summary: "Reads the notice at the top of the site.",
    access: "anyone",
    caching: "public, max-age=15, s-maxage=15",
    anyOrigin: { sends: "API-Version", reads: stampedHeaders },
    answers: { 200: schemas.siteBannerResponse, 400: apiError, 405: apiError, 500: apiError },
    codes: shared,
  },
  entitlement: {
    path: "/api/entitlement",
    methods: ["GET", "HEAD", "OPTIONS"],
    summary: "Reports whether the signed-in account may run.",
    access: "session",
    caching: "private, no-store",
    answers: {
      200: schemas.entitlementAllowed,
      400: apiError,
      401: entitlementDenied,
      403: entitlementDenied,
      405: apiError,
      500: apiError,
      503: entitlementDenied,
    },
    codes: {
      ...shared,
      401: ["signed_out"],
      403: ["trial_ended", "forbidden"],
      503: ["not_configured", "unavailable"],
    },
  },
  creditsBalance: {
    path: "/api/credits/balance",
    methods: ["GET", "HEAD", "OPTIONS"],
    summary: "Reads the account's credit balance.",
    access: "session",
    caching: "private, no-store",
    answers: {
      200: schemas.creditsBalance,
      400: apiError,
      401: apiError,
      405: apiError,
      500: apiError,
      503: apiError,
    },
    codes: { ...shared, 401: ["signed_out"], 503: ["balance_unavailable"] },
  },
  unsubscribe: {
    path: "/api/email/unsubscribe",
    methods: ["POST", "OPTIONS"],
    summary: "Stops the later onboarding emails (RFC 8058).",
    access: "signed link",
    caching: "no-store",
    answers: {
      200: schemas.unsubscribed,
      400: apiError,
      405: apiError,
      413: apiError,
      500: apiError,
      502: apiError,
    },
    codes: {
      ...shared,
      400: ["invalid_token", "invalid_request"],
      413: ["too_large"],
      502: ["upstream_failed"],
    },
  },
} as const satisfies Record<string, Operation>;

/**
 * The MCP server: one endpoint at two addresses, with one quota. It is no operation: its answers are MCP's, a
 * newer protocol is agreed on in MCP's own way, and `API-Version` selects nothing there.
 */
export const mcpServer = {
  paths: ["/mcp", "/api/mcp"],
  methods: ["POST", "OPTIONS"],
  quota: "mcp",
  caching: "no-store",
  anyOrigin: {
    sends: [
      "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
      "Last-Event-ID, API-Version, X-Request-Id, traceparent, tracestate, baggage",
    ].join(", "),
    reads: [
      "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, Retry-After, WWW-Authenticate",
      stampedHeaders,
    ].join(", "),
  },
} as const satisfies ApiRoute & { paths: readonly `/${string}`[] };
