import { addressesOf } from "@/lib/auth/token-audience";

/** The only scope. It allows the public operations and nothing more. */
export const accountScope = "account:read";

/** The description of the scope on pages. */
export const accountScopeWords = "See whether your company may run, and its credits";

/** Every address that a token can be bound to. The first is the default. */
export function resourceAddresses(): string[] {
  return [...addressesOf("api"), ...addressesOf("mcp")];
}
