import { isLoopback } from "@/lib/config/loopback";
import { settings } from "@/lib/config/settings";

/** Cursor's redirect URI. Its scheme is no reversed host name, so exactly this URI is allowed and no other. */
const cursorRedirectUri = "cursor://anysphere.cursor-mcp/oauth/callback";

/**
 * Whether a redirect URI is allowed: a loopback address on any port, HTTPS, or a private-use scheme that is a reversed
 * host name (RFC 8252 §7). It must be spelled canonically and have no user name and no dot at the end of its host, so
 * that owners, browsers and our code all read the same host (RFC 3986 §7.6). It must not be ours, because the approval
 * names the host that asks.
 */
export function isAllowedRedirectUri(uri: string): boolean {
  if (!/^[!-~]+$/.test(uri) || /[#*\\]/.test(uri) || !URL.canParse(uri)) return false;
  if (uri === cursorRedirectUri) return true;
  const { protocol, hostname, port, username, password, href } = new URL(uri);
  if (href !== uri || username !== "" || password !== "" || hostname.endsWith(".")) return false;
  const ours = new URL(settings().appUrl);
  // Each loopback name leads to the same port.
  if (protocol === "http:") return isLoopback(hostname) && !(isLoopback(ours.hostname) && port === ours.port);
  if (protocol === "https:") return !isLoopback(hostname) && hostname !== ours.hostname;
  return /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:$/.test(protocol);
}
