import { isHook, isUnderApi, pageAt } from "@/lib/api/door";
import type { ClerkSettings } from "@/lib/settings/clerk-settings";
import { settings } from "@/lib/settings/settings";

type Directive = "script-src" | "style-src" | "img-src" | "connect-src" | "frame-src" | "worker-src";

/**
 * The Content-Security-Policy of a page: nothing from elsewhere, and of inline scripts only those named.
 *
 * @param scripts - sources of inline scripts: `'nonce-…'` or `'sha256-…'`
 * @param also - what a page may have besides
 */
export function contentSecurityPolicy(
  scripts: readonly string[],
  also: Partial<Record<Directive, string>> = {},
): string {
  const directives: Record<string, string> = {
    "default-src": "'none'",
    "script-src": ["'self'", ...scripts].join(" "),
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
  for (const [directive, sources] of Object.entries(also)) {
    const own = directives[directive];
    directives[directive] = own ? `${own} ${sources}` : sources;
  }
  return Object.entries(directives)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");
}

/** Whether Clerk's components are on the page at this path, and Clerk signs in. */
export function isClerks(path: string): boolean {
  return settings().signIn.kind === "clerk" && (pageAt(path)?.loads.includes("clerk") ?? false);
}

/**
 * The policy of a page that is rendered for this request, with a nonce of its own; `undefined` for every
 * other path. Clerk's own pages load its script from its Frontend API.
 */
export function renderedPagePolicy(path: string): string | undefined {
  const { production, signIn } = settings();
  const isRendered = production
    ? pageAt(path)?.made === "for each request"
    : !isUnderApi(path) && !isHook(path);
  if (!isRendered) return undefined;
  const nonce = `'nonce-${btoa(crypto.randomUUID())}'`;
  if (!production) return contentSecurityPolicy([nonce, "'unsafe-eval'"], hotReload);
  return contentSecurityPolicy([nonce], isClerks(path) ? clerk((signIn as ClerkSettings).issuer) : {});
}

/** What Next needs while the pages are worked on. */
const hotReload = { "style-src": "'unsafe-inline'", "connect-src": "ws: wss:" };

/** What Clerk asks for: its script and calls, pictures of people, its bot check, styles set by script. */
function clerk(frontendApi: string): Partial<Record<Directive, string>> {
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
