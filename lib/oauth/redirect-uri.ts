import { settings } from "@/lib/config/settings";

/** Schemes of browsers and systems, which lead to no app: some of them run scripts. */
const ofSystems =
  /^(?:about|blob|chrome.*|data|devtools|edge|file|filesystem|ftps?|intent|jar|javascript|mailto|moz-extension|ms-.*|resource|search-ms|sms|tel|urn|vbscript|view-source|wss?):$/;

const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Why a redirect URI is not allowed, as the end of a sentence; `undefined` if it is: a loopback address on any port,
 * HTTPS, or an app's own scheme (RFC 8252 §7). It must be spelled canonically and have no user name and no dot at the end
 * of its host, so that owners, browsers and our code all read the same host (RFC 3986 §7.6). It must not be ours, because
 * the approval names the host that asks. Schemes need not be reversed host names: those of most editors are not.
 */
export function findRedirectFault(uri: string): string | undefined {
  const canonical = "is not spelled as the URL standard does, or has a fragment, * or \\";
  if (!/^[!-~]+$/.test(uri) || /[#*\\]/.test(uri) || !URL.canParse(uri)) return canonical;
  const { protocol, hostname, port, username, password, href } = new URL(uri);
  const spelled = uri.replace(/^[^:]*/, (scheme) => scheme.toLowerCase());
  if (withSlash(spelled) !== href) return canonical;
  if (username !== "" || password !== "") return "has a user name";
  if (hostname.endsWith(".")) return "has a dot at the end of its host";
  if (protocol === "http:" && !loopback.includes(hostname)) return "is HTTP, and not a loopback address";
  if (protocol === "https:" && loopback.includes(hostname)) return "is a loopback address, and not HTTP";
  if (isOurs(protocol, hostname, port)) return "is ours";
  return ofSystems.test(protocol) ? "has a scheme that opens no app" : undefined;
}

/**
 * Whether it leads to us: by our name, or by any of our ports where we run on the owner's computer. There each loopback
 * name leads to the same port; elsewhere the ports of that computer are not ours (RFC 8252 §7.3).
 */
function isOurs(protocol: string, hostname: string, port: string): boolean {
  const { appUrl, office, backend, metricsPort } = settings();
  const own = new URL(appUrl);
  if (protocol === "https:") return hostname === own.hostname;
  if (protocol !== "http:" || !loopback.includes(own.hostname)) return false;
  return [own.port, office?.port, backend?.port, metricsPort].some((ours) => String(ours) === port);
}

/**
 * What may be registered for a redirect URI: with the slash that the URL standard adds to a host alone, or without; and by
 * another name of the owner's computer, where any program may listen on any port in any case. Clients change the name with an
 * update (slackapi/slack-skills-plugin#120).
 */
export function spellingsOf(uri: string): string[] {
  const withoutSlash = uri.replace(/^(https?:\/\/[^/?]+)\/(?=\?|$)/i, "$1");
  return [withoutSlash, withSlash(uri)].flatMap((spelled) => [
    spelled,
    ...loopback.map((name) => spelled.replace(ofLoopback, `http://${name}`)),
  ]);
}

/** A loopback address that is registered with `*` as its port: any, as without a port (gofastmcp.com/clients/auth/cimd). */
export const withoutAnyPort = (uri: unknown) =>
  typeof uri === "string" ? uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*/i, "$1") : uri;

const ofLoopback = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/?]|$)/i;

function withSlash(uri: string): string {
  return uri.replace(/^(https?:\/\/[^/?]+)(?=\?|$)/i, "$1/");
}
