import type { z } from "zod";
import { corsOfBanner } from "@/lib/http/cors";
import type { ErrorCode } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import type { Route } from "@/lib/http/route";
import * as schemas from "@/lib/http/schemas";

/** The statuses of operations; `lib/docs/responses.ts` describes each. */
export type Status = 200 | 400 | 401 | 403 | 405 | 410 | 413 | 429 | 500 | 502 | 503;

/** One public operation, as handlers, documents and tests read it. */
export type Operation = Route & {
  site: "api";
  /** The exact path; its folder is `app` + this path. */
  path: `/api/${string}`;
  caching: string;
  summary: string;
  /** Who may call it: anyone, a signed-in account, or anyone with a signed link. */
  access: "anyone" | "session" | "signed link";
  /** The body of its 200. */
  answer: z.ZodType;
  /** The body of a refusal for the account: 401, 403 or 503. Every other refusal, and these by default, is an ApiError. */
  denial?: z.ZodType;
  /** The possible `error.code`s, by the status of each refusal. */
  codes: Readonly<Partial<Record<Status, readonly ErrorCode[]>>>;
};

/** The refusals of the router and the common checks, which every operation shares. */
const shared = { 400: ["invalid_request"], 405: ["method_not_allowed"], 500: ["internal_error"] } as const;

/** The schema of an operation's response with this status. */
export function schemaOf({ answer, denial = schemas.apiError }: Operation, status: Status): z.ZodType {
  if (status === 200) return answer;
  return status === 401 || status === 403 || status === 503 ? denial : schemas.apiError;
}

const versioned = { site: "api", isVersioned: true } as const;
/** What all operations share that can be retired: the links of mails do not expire. */
const reads = { ...versioned, methods: ["GET", "HEAD", "OPTIONS"] } as const;

const readsAccount = {
  ...reads,
  access: "session",
  credential: "token",
  caching: "private, no-store",
} as const;

/** The register of public operations. Plain data: adding one starts here. */
export const operations = {
  health: {
    path: "/api/health",
    ...reads,
    summary: "Reports that the web app is up.",
    access: "anyone",
    quota: "health",
    caching: "no-store",
    answer: schemas.health,
    codes: { ...shared, 429: ["unavailable"] },
  },
  siteBanner: {
    path: "/api/site-banner",
    ...reads,
    summary: "Reads the notice at the top of the site.",
    access: "anyone",
    caching: "public, max-age=15, s-maxage=15",
    anyOrigin: corsOfBanner,
    answer: schemas.siteBannerResponse,
    codes: shared,
  },
  entitlement: {
    path: "/api/entitlement",
    ...readsAccount,
    summary: "Reports whether the signed-in account may run.",
    answer: schemas.entitlementAllowed,
    denial: schemas.entitlementDenied,
    codes: {
      ...shared,
      401: ["signed_out"],
      403: ["trial_ended", "forbidden"],
      503: ["not_configured", "unavailable"],
    },
  },
  creditsBalance: {
    path: "/api/credits/balance",
    ...readsAccount,
    summary: "Reads the account's credit balance.",
    answer: schemas.creditsBalance,
    codes: { ...shared, 401: ["signed_out"], 503: ["balance_unavailable"] },
  },
  unsubscribe: {
    path: "/api/email/unsubscribe",
    forPeople: pages.unsubscribe.path,
    ...versioned,
    methods: ["POST", "OPTIONS"],
    origin: "any",
    credential: "link",
    limit: "unsubscribe",
    takes: "unsubscribe",
    summary: "Stops the later onboarding emails (RFC 8058).",
    access: "signed link",
    caching: "no-store",
    answer: schemas.unsubscribed,
    codes: {
      ...shared,
      400: ["invalid_token", "invalid_request"],
      413: ["too_large"],
      502: ["upstream_failed"],
    },
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
