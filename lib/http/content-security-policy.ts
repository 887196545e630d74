import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import type { Page } from "@/lib/http/pages";

/** What a page may do: nothing from elsewhere. */
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

/** Whether Clerk's components are on a page, and Clerk signs in. */
export function isClerks(page: Page): boolean {
  return settings().signIn.kind === "clerk" && page.loads.includes("clerk");
}

/** Whether the framework renders a page, and its scripts run there. */
export function isFrameworks(page: Page): boolean {
  return page.loads.includes("framework") || isClerks(page);
}

/**
 * The Content-Security-Policy of a page: the scripts that its entry names, and of inline ones only the
 * framework's own. Clerk's components load its script from its Frontend API.
 *
 * @param nonce - names the framework's inline scripts; another for each request
 */
export function pagePolicy(page: Page, nonce: string): string {
  const { production, signIn } = settings();
  if (!isFrameworks(page)) {
    const scripts = page.loads.some((script) => script !== "clerk") ? "'self'" : "'none'";
    const trustedTypes = { "require-trusted-types-for": "'script'", "trusted-types": "'none'" };
    return join({ ...base, "script-src": scripts, ...trustedTypes });
  }
  const own = { ...base, "script-src": `'self' 'nonce-${nonce}'` };
  if (!production) return join(extend(own, hotReload));
  return join(isClerks(page) ? extend(own, clerk((signIn as ClerkSettings).issuer)) : own);
}

/** What Next needs while the pages are worked on. */
const hotReload = {
  "script-src": "'unsafe-eval'",
  "style-src": "'unsafe-inline'",
  "connect-src": "ws: wss:",
};

/** What Clerk asks for: its script and calls, pictures of people, its bot check, styles set by script. */
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
