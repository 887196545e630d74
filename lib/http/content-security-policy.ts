import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import type { Page } from "@/lib/http/register/pages";

/** The policy of every page: nothing from other origins. */
const base: Record<string, string> = {
  "default-src": "'none'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self'",
  "connect-src": "'self'",
  "manifest-src": "'self'",
  "form-action": "'self'",
  "base-uri": "'none'",
  "frame-ancestors": "'none'",
  "object-src": "'none'",
};

/** The policy of what is not a page: it displays nothing, whatever the browser takes it for. */
export const showNothing = "default-src 'none'; frame-ancestors 'none'";

const noInjection = { "require-trusted-types-for": "'script'", "trusted-types": "'none'" };

/** The policy of every page of the operators' office. */
export const officePolicy = join({ ...base, "img-src": "'self'", "script-src": "'self'", ...noInjection });

/** Whether a page shows Clerk's components. */
export function isClerks(page: Page): boolean {
  return settings().signIn.kind === "clerk" && page.loads.includes("clerk");
}

/**
 * The Content-Security-Policy of a page (CSP Level 3). It allows the scripts that the page's entry names, and no inline
 * ones. Clerk's components load theirs from Clerk's Frontend API.
 */
export function pagePolicy(page: Page): string {
  if (isClerks(page)) return clerkPolicy((settings().signIn as ClerkSettings).issuer);
  const scripts = page.loads.some((script) => script !== "clerk") ? "'self'" : "'none'";
  return join({ ...base, "script-src": scripts, ...noInjection });
}

function clerkPolicy(frontendApi: string): string {
  const botCheck = "https://challenges.cloudflare.com";
  return join({
    ...base,
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: https://img.clerk.com",
    "connect-src": `'self' ${frontendApi}`,
    "script-src": `'self' ${frontendApi} ${botCheck}`,
    "frame-src": botCheck,
    "worker-src": "'self' blob:",
  });
}

function join(directives: Record<string, string>): string {
  return Object.entries(directives)
    .map((directive) => directive.join(" "))
    .join("; ");
}
