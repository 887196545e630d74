import { settings } from "@/lib/config/settings";

/**
 * What we keep in a browser: the session token, whose name the specification gives; the secret that renews it; the
 * secret of a code that was asked for; the proof that an email signed in here before; an email as it was typed; what
 * an app asks of its owner; and which notice its reader has put away.
 */
export type CookieName =
  | "__session"
  | "office-client"
  | "office-code"
  | "office-known"
  | "office-email"
  | "office-request"
  | "office-notice";

type CookieHeaders = Pick<Headers, "get">;

/**
 * The cookie of that name. Two of one name are none: a host beside ours can set one for both (RFC 6265 §8.6), and
 * nothing tells which is whose.
 */
export function readCookie(headers: CookieHeaders, name: CookieName): string | undefined {
  const [value, another] = readCookies(headers, name);
  return another === undefined ? value : undefined;
}

/** Every cookie of that name that has a value. */
export function readCookies(headers: CookieHeaders, name: CookieName): string[] {
  const sent = headers.get("cookie");
  if (sent === null) return [];
  const start = `${nameSent(name)}=`;
  return sent
    .split(";")
    .map(trimBlanks)
    .filter((cookie) => cookie.startsWith(start) && cookie.length > start.length)
    .map((cookie) => cookie.slice(start.length));
}

/**
 * A text without the spaces and tabs around it, and no other: to a browser, a no-break space before `__Host-` makes
 * another name, which a sibling host may set.
 */
function trimBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t";
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

/** A `Set-Cookie` that no script reads, no other site's form sends, and that needs HTTPS where we have it. */
export function writeCookie(name: CookieName, value: string, maxAgeSeconds: number): string {
  const secure = isHttps() ? "; Secure" : "";
  return `${nameSent(name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The `Set-Cookie` headers of a response. */
export function cookieHeaders(cookies: readonly string[]): string[] {
  return cookies.flatMap((cookie) => ["set-cookie", cookie]);
}

/** A `Set-Cookie` that takes a cookie away. */
export function clearCookie(name: CookieName): string {
  return writeCookie(name, "", 0);
}

/**
 * The name on the wire. `__Host-` has the browser take a cookie from this very host alone (RFC 6265bis §4.1.3.2): no
 * host beside ours can put its own in the place. It needs HTTPS, so development over HTTP goes without.
 */
function nameSent(name: CookieName): string {
  return name !== "__session" && isHttps() ? `__Host-${name}` : name;
}

function isHttps(): boolean {
  return settings().appUrl.startsWith("https:");
}
