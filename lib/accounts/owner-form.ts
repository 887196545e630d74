import { type Owner, rejectImpersonator, requireOwner } from "@/lib/accounts/require-owner";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import type { Route } from "@/lib/http/route";

/** What the handler of a route checks whose entry asks for the owner. */
export const byOwner = {
  identify,
  hasProof: ({ confirmedAtMs }, nowMs) => isRecentlyConfirmed(confirmedAtMs, nowMs),
} satisfies CheckOptions<Owner>;

async function identify(call: Call, { takes, notImpersonated }: Route): Promise<Owner> {
  const owner = await requireOwner(call, takes === "form" ? call.field("account") : undefined);
  if (notImpersonated) await rejectImpersonator(owner, notImpersonated, call.nowMs);
  return owner;
}
