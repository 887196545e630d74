import { addresses, type Resource } from "@/lib/auth/tokens/credential";
import { settings } from "@/lib/config/settings";

/** The only scope. It allows the public operations and nothing more. */
export const accountScope = "account:read";

/** The description of the scope on pages. */
export const accountScopeWords = "See whether your assistants may run, and your credits";

/**
 * The address that a token is bound to whose client names these (RFC 8707 §2): our URL for one that names none or both
 * resources. An address may end with a slash, and be spelled in capitals. `undefined` if one of them is not ours.
 */
export function resolveResource(named: readonly string[]): string | undefined {
  const whole = settings().appUrl;
  const spelled = named.map((address) => URL.parse(address)?.href.replace(/\/$/, "") ?? "");
  const resources = spelled.map(resourcesAt);
  if (resources.some(({ length }) => length === 0)) return undefined;
  return new Set(resources.flat()).size === 1 ? spelled[0] : whole;
}

/**
 * The address that a token is bound to whose client was granted some and names these. `undefined` if one of them was not
 * granted.
 */
export function narrowResource(granted: readonly string[], named: readonly string[]): string | undefined {
  const asked = resolveResource(named.length > 0 ? named : granted);
  const allowed = granted.flatMap(resourcesAt);
  return asked && resourcesAt(asked).every((resource) => allowed.includes(resource)) ? asked : undefined;
}

/** The resources that an address names: both for our URL, none for one that is not ours. */
function resourcesAt(address: string): Resource[] {
  return (["api", "mcp"] as const).filter((resource) => addresses()[resource].includes(address));
}
