import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import type { Route } from "@/lib/http/route";

/** Refuses a delivery that no key can verify, before its body is read. */
export function requireKey(call: Call, _route: Route, options: CheckOptions<unknown>): void {
  options.requireKey?.(call);
}

/** Finds who sent a request, or refuses it. */
export async function identify(call: Call, route: Route, options: CheckOptions<unknown>): Promise<void> {
  call.who = await options.identify?.(call, route);
}
