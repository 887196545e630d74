import * as z from "zod";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";

/*
 * The resources of the API. Objects are closed: this is what we send, field for field. They are
 * published open, because clients must ignore fields that they do not know. What a resource is called and a
 * field means is said here, and from here in the documents and the API description.
 */

/** The names of the resources in the API description. */
export const resources = z.registry<{ id: string }>();

export const apiErrorDetail = z
  .strictObject({
    code: z
      .enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]])
      .describe("Stable between releases; branch on it."),
    message: z.string().min(1).describe("One plain sentence saying what went wrong."),
    hint: z.string().min(1).describe("What to do next."),
    docs: z.url().describe("Address of the page that explains error codes, at this code."),
  })
  .describe("Why it failed, and what to do.")
  .register(resources, { id: "ApiErrorDetail" });

export const apiError = z.strictObject({ error: apiErrorDetail }).register(resources, { id: "ApiError" });

export const health = z
  .strictObject({
    ok: z.literal(true).describe("Always `true`."),
    service: z.string().describe("Fixed identifier of the web service."),
    surface: z.string().describe("Which part of the product answered."),
    agent: z.string().describe("Says whether assistants run in this service: they do not."),
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

/** The notice that a visitor sees. */
export type SiteBanner = NonNullable<z.infer<typeof siteBannerResponse>["banner"]>;

export const entitlementAllowed = z
  .strictObject({
    ok: z.literal(true).describe("Always `true`: the account may run."),
    status: z
      .enum(["licensed", "trial", "hobby"])
      .describe("A licence, an active trial, or the free tier after the trial."),
    trialEndsAt: z.iso.datetime().optional().describe("When the trial ends; present on a trial."),
    assistantLimit: z.int().min(0).optional().describe("How many named assistants the account may hire."),
    recheckAfterSeconds: z.int().min(1).describe("Ask again within this many seconds."),
  })
  .register(resources, { id: "EntitlementAllowed" });

export const entitlementDenied = z
  .strictObject({
    ok: z.literal(false).describe("Always `false`: the account may not run."),
    status: z
      .enum(["signed-out", "trial-ended", "invalid", "unconfigured", "unavailable"])
      .describe("Why the account may not run."),
    message: z.string().min(1).describe("One plain sentence saying why."),
    error: apiErrorDetail,
  })
  .register(resources, { id: "EntitlementDenied" });

export const creditsBalance = z
  .strictObject({
    credits: z.number().min(0).describe("Balance as a count of credits; never money."),
  })
  .register(resources, { id: "CreditsBalance" });

export const unsubscribed = z
  .string()
  .regex(/^[^\n]+\n$/)
  .describe("One line saying that the later emails are stopped.")
  .register(resources, { id: "Unsubscribed" });
