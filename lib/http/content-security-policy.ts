import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import type { Page } from "@/lib/http/pages";

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

/** Whether a page shows Clerk's components. */
export function isClerks(page: Page): boolean {
  return settings().signIn.kind === "clerk" && page.loads.includes("clerk");
}

/**
 * The Content-Security-Policy of a page (CSP Level 3). It allows the scripts that the page's entry names, and no inline
 * ones. Clerk's components load theirs from Clerk's Frontend API.
 */
export function pagePolicy(page: Page): string {
  if (isClerks(page)) {
    const own = { ...base, "script-src": "'self'" };
    return join(extend(own, clerk((settings().signIn as ClerkSettings).issuer)));
  }
  const scripts = page.loads.some((script) => script !== "clerk") ? "'self'" : "'none'";
  const trustedTypes = { "require-trusted-types-for": "'script'", "trusted-types": "'none'" };
  return join({ ...base, "script-src": scripts, ...trustedTypes });
}

/** The sources of Clerk's components: their script and API, profile pictures, the bot check, inline styles. */
function clerk(frontendApi: string): Record<string, string> {
  const botCheck = "https://challenges.cloudflare.com";
  return {
    "script-src": `${frontendApi} ${botCheck}`,
    "connect-src": frontendApi,
    "img-src": "https://img.clerk.com",
    "style-src": "'unsafe-inline'",
    "frame-src": botCheck,
    "worker-src": "'self' blob:",
  };
}

function extend(directives: Record<string, string>, also: Record<string, string>): Record<string, string> {
  const more = Object.entries(also).map(([directive, sources]) => {
    const own = directives[directive];
    return [directive, own ? `${own} ${sources}` : sources];
  });
  return { ...directives, ...Object.fromEntries(more) };
}

function join(directives: Record<string, string>): string {
  return Object.entries(directives)
    .map((directive) => directive.join(" "))
    .join("; ");
}
