import * as z from "zod";
import { corsOfBanner } from "@/lib/http/cors";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import type { Route } from "@/lib/http/route";

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

/** The names of the resources in the API description. */
export const resources = z.registry<{ id: string }>();

const apiErrorDetail = z
  .strictObject({
    code: z
      .enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]])
      .describe("The error code. Branch on it; it is stable between releases."),
    message: z.string().min(1).describe("One plain sentence that describes the problem."),
    hint: z.string().min(1).describe("What to do next."),
    docs: z.url().describe("The URL of the documentation of this code."),
  })
  .describe("Why it failed, and what to do.")
  .register(resources, { id: "ApiErrorDetail" });

export const apiError = z.strictObject({ error: apiErrorDetail }).register(resources, { id: "ApiError" });

/** The schema of an operation's response with this status. */
export function schemaOf({ answer, denial = apiError }: Operation, status: Status): z.ZodType {
  if (status === 200) return answer;
  return status === 401 || status === 403 || status === 503 ? denial : apiError;
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

/**
 * The register of public operations, with the descriptions of their answers that the documents and the API description show.
 * Adding one starts here. Objects are closed, because we send exactly these fields, but published open, because clients must
 * ignore fields that they do not know.
 */
export const operations = {
  health: {
    path: "/api/health",
    ...reads,
    summary: "Reports that the web app is up.",
    access: "anyone",
    quota: "health",
    caching: "no-store",
    answer: z
      .strictObject({
        ok: z.literal(true).describe("Always `true`."),
        service: z.string().describe("Fixed identifier of the web service."),
        surface: z.string().describe("Which part of the product answered."),
        agent: z.string().describe("Whether assistants run in this service; they do not."),
      })
      .register(resources, { id: "Health" }),
    codes: { ...shared, 429: ["unavailable"] },
  },
  siteBanner: {
    path: "/api/site-banner",
    ...reads,
    summary: "Reads the notice at the top of the site.",
    access: "anyone",
    caching: "public, max-age=15, s-maxage=15",
    anyOrigin: corsOfBanner,
    answer: z
      .strictObject({
        banner: z
          .strictObject({
            kind: z
              .enum(["promo", "warning"])
              .describe("`promo` shows on the public site only; `warning` shows everywhere."),
            message: z.string().min(1).describe("The notice text. Plain text, not HTML."),
          })
          .nullable()
          .describe("`null` when there is no notice."),
      })
      .register(resources, { id: "SiteBannerResponse" }),
    codes: shared,
  },
  entitlement: {
    path: "/api/entitlement",
    ...readsAccount,
    summary: "Reports whether the signed-in account may run.",
    answer: z
      .strictObject({
        ok: z.literal(true).describe("Always `true`: the account may run."),
        status: z
          .enum(["licensed", "trial", "hobby"])
          .describe("A licence, an active trial, or the free tier after the trial."),
        trialEndsAt: z.iso.datetime().optional().describe("When the trial ends; present on a trial."),
        recheckAfterSeconds: z.int().min(1).describe("Ask again within this many seconds."),
        plan: z.string().describe("The name of the plan."),
        assistantLimit: z
          .int()
          .min(0)
          .optional()
          .describe("The maximum number of named assistants that the account may hire: `limits.assistants`."),
        features: z.array(z.string()).describe("The names of what the plan contains."),
        limits: z
          .record(z.string(), z.int().min(0).nullable())
          .describe(
            "Whole numbers by the names of what they limit; `null` for no limit, as where a name is missing.",
          ),
      })
      .register(resources, { id: "EntitlementAllowed" }),
    denial: z
      .strictObject({
        ok: z.literal(false).describe("Always `false`: the account may not run."),
        status: z
          .enum(["signed-out", "trial-ended", "invalid", "unconfigured", "unavailable"])
          .describe("Why the account may not run."),
        message: z.string().min(1).describe("One plain sentence that says why."),
        error: apiErrorDetail,
      })
      .register(resources, { id: "EntitlementDenied" }),
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
    answer: z
      .strictObject({
        credits: z.number().min(0).describe("The balance as a count of credits, never money."),
      })
      .register(resources, { id: "CreditsBalance" }),
    codes: { ...shared, 401: ["signed_out"], 503: ["balance_unavailable"] },
  },
  unsubscribe: {
    path: "/api/email/unsubscribe",
    otherwise: {
      says: "A person opens %s instead, with the same query.",
      page: pages.unsubscribe.path,
    },
    ...versioned,
    methods: ["POST", "OPTIONS"],
    origin: "any",
    credential: "link",
    limit: "unsubscribe",
    takes: "unsubscribe",
    summary: "Stops the later onboarding emails (RFC 8058).",
    access: "signed link",
    caching: "no-store",
    answer: z
      .string()
      .regex(/^[^\n]+\n$/)
      .describe("One line that confirms that the later emails are stopped.")
      .register(resources, { id: "Unsubscribed" }),
    codes: {
      ...shared,
      400: ["invalid_token", "invalid_request"],
      413: ["too_large"],
      502: ["upstream_failed"],
    },
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

export type SiteBanner = NonNullable<z.infer<typeof operations.siteBanner.answer>["banner"]>;
