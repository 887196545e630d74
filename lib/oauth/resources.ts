import { addressesOf } from "@/lib/auth/resource";

/** The one scope there is: no app can be let in to more than the public operations. */
export const accountScope = "account:read";

/** What the scope is called where a person reads it. */
export const accountScopeWords = "See whether your company may run, and its credits";

/** Every address that a token can be bound to. The first is meant where an app names none. */
export function resourceAddresses(): string[] {
  return [...addressesOf("api"), ...addressesOf("mcp")];
}
