import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import { ApiError } from "@/lib/http/errors";
import type { Route } from "@/lib/http/route";

/** Refuses a delivery that no key can verify, before its body is read. */
export function requireKey(call: Call, _route: Route, options: CheckOptions<unknown>): void {
  options.requireKey?.(call);
}

/** Finds who sent a request, or refuses it. */
export async function identify(call: Call, route: Route, options: CheckOptions<unknown>): Promise<void> {
  call.who = await options.identify?.(call, route);
}

/** Refuses what takes more than a session, unless its owner or operator has just proved who they are. */
export function requireProof({ who, nowMs }: Call, _route: Route, { hasProof }: CheckOptions<unknown>): void {
  if (hasProof?.(who, nowMs)) return;
  throw new ApiError("forbidden", {
    reason: "no proof",
    message: "Confirm first that it is you: it was more than five minutes ago.",
    hint: "Use a passkey, a new code or a new sign-in in this browser, then try again.",
  });
}
