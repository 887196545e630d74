import * as z from "zod";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";

/*
 * The resources of the API, with the descriptions that the documents and the API description show. Objects are closed,
 * because we send exactly these fields, but published open, because clients must ignore fields that they do not know.
 */

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

export const health = z
  .strictObject({
    ok: z.literal(true).describe("Always `true`."),
    service: z.string().describe("Fixed identifier of the web service."),
    surface: z.string().describe("Which part of the product answered."),
    agent: z.string().describe("Whether assistants run in this service; they do not."),
  })
  .register(resources, { id: "Health" });

export const siteBannerResponse = z
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
  .register(resources, { id: "SiteBannerResponse" });

export type SiteBanner = NonNullable<z.infer<typeof siteBannerResponse>["banner"]>;

export const entitlementAllowed = z
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
  .register(resources, { id: "EntitlementAllowed" });

export const entitlementDenied = z
  .strictObject({
    ok: z.literal(false).describe("Always `false`: the account may not run."),
    status: z
      .enum(["signed-out", "trial-ended", "invalid", "unconfigured", "unavailable"])
      .describe("Why the account may not run."),
    message: z.string().min(1).describe("One plain sentence that says why."),
    error: apiErrorDetail,
  })
  .register(resources, { id: "EntitlementDenied" });

export const creditsBalance = z
  .strictObject({
    credits: z.number().min(0).describe("The balance as a count of credits, never money."),
  })
  .register(resources, { id: "CreditsBalance" });

export const unsubscribed = z
  .string()
  .regex(/^[^\n]+\n$/)
  .describe("One line that confirms that the later emails are stopped.")
  .register(resources, { id: "Unsubscribed" });
