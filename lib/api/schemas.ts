import { z } from "zod";
import { type ErrorCode, errorCatalogue } from "@/lib/api/errors";

/*
 * The resources of the API. Objects are closed: this is what we send, field for field. They are
 * published open, because clients must ignore fields that they do not know.
 */

export const apiErrorDetail = z.strictObject({
  code: z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]),
  message: z.string().min(1),
  hint: z.string().min(1),
  docs: z.url(),
});

export const apiError = z.strictObject({ error: apiErrorDetail });

export const health = z.strictObject({
  ok: z.literal(true),
  service: z.string(),
  surface: z.string(),
  agent: z.string(),
});

export const siteBannerResponse = z.strictObject({
  banner: z.strictObject({ kind: z.enum(["promo", "warning"]), message: z.string().min(1) }).nullable(),
});

export const entitlementAllowed = z.strictObject({
  ok: z.literal(true),
  status: z.enum(["licensed", "trial", "hobby"]),
  trialEndsAt: z.iso.datetime().optional(),
  assistantLimit: z.int().min(0).optional(),
  recheckAfterSeconds: z.int().min(1),
});

export const entitlementDenied = z.strictObject({
  ok: z.literal(false),
  status: z.enum(["signed-out", "trial-ended", "invalid", "unconfigured", "unavailable"]),
  message: z.string().min(1),
  error: apiErrorDetail,
});

export const creditsBalance = z.strictObject({ credits: z.number().min(0) });

export const unsubscribed = z.string().regex(/^[^\n]+\n$/);
