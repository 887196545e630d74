import { settings } from "@/lib/config/settings";

/** Our cookies; `lib/docs/documents/privacy.ts` says what each is for. */
export type CookieName =
  | "__session"
  | "office-client"
  | "office-code"
  | "office-back"
  | "office-passkey"
  | "office-known"
  | "office-email"
  | "office-request"
  | "office-notice"
  | "office-look"
  | "office-probe";

/** Ours, and those of the operators' office: its session, the secret that binds passkey challenges, the pending link. */
type AnyCookieName = CookieName | "operator-session" | "operator-browser" | "operator-link";

type CookieHeaders = Pick<Headers, "get">;

/**
 * The cookie with this name, if one alone has it: a sibling host can set one for our domain (RFC 6265 §8.6), and nothing
 * shows which of two is ours.
 */
export function readCookie(headers: CookieHeaders, name: AnyCookieName): string | undefined {
  const [value, ...others] = readCookies(headers, nameSent(name));
  return others.length === 0 ? value : undefined;
}

/**
 * All cookies with this name, as it is sent, that are not empty, for a caller who can tell which is ours. It looks for the
 * name alone, because a stranger's field of 16 KB may have 15,000 others.
 */
export function readCookies(headers: CookieHeaders, name: string): string[] {
  const field = headers.get("cookie") ?? "";
  const values: string[] = [];
  for (let at = field.indexOf(`${name}=`); at !== -1; at = field.indexOf(`${name}=`, at + 1)) {
    const before = endWithoutBlanks(field, at);
    if (before > 0 && field[before - 1] !== ";") continue;
    const semicolon = field.indexOf(";", at);
    const end = endWithoutBlanks(field, semicolon === -1 ? field.length : semicolon);
    // A value may be in quotes (RFC 6265 §4.1.1), as Java's `HttpCookie` sends it. Those that we set contain none.
    const value = field.slice(at + name.length + 1, end).replace(/^"(.*)"$/, "$1");
    if (value !== "") values.push(value);
  }
  return values;
}

/** Whether a browser sends a cookie with this name, be it one or several. */
export function sendsCookie(headers: CookieHeaders, name: AnyCookieName): boolean {
  return readCookies(headers, nameSent(name)).length > 0;
}

/**
 * Whether a browser sends a session cookie or the cookie that renews it. The session may have ended, so this only
 * decides where a link leads; the home page redirects to sign-in if there is no session.
 */
export function hasSessionCookie(headers: CookieHeaders): boolean {
  return sendsCookie(headers, "__session") || sendsCookie(headers, "office-client");
}

/**
 * Where the blanks before this place begin. Spaces and tabs alone: a no-break space before `__Host-` makes another name, which
 * a sibling host may set.
 */
function endWithoutBlanks(text: string, place: number): number {
  let end = place;
  while (text[end - 1] === " " || text[end - 1] === "\t") end--;
  return end;
}

/** A `Set-Cookie` that is HttpOnly, SameSite=Lax, and Secure if the service has HTTPS. */
export function writeCookie(name: AnyCookieName, value: string, maxAgeSeconds: number): string {
  const secure = isHttps(name) ? "; Secure" : "";
  return `${cookiePair(name, value)}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** A cookie as its browser sends it. */
export function cookiePair(name: AnyCookieName, value: string): string {
  return `${nameSent(name)}=${value}`;
}

/** The `Set-Cookie` headers of a response. */
export function cookieHeaders(cookies: readonly string[]): string[] {
  return cookies.flatMap((cookie) => ["set-cookie", cookie]);
}

/** A `Set-Cookie` that deletes a cookie. */
export function clearCookie(name: AnyCookieName): string {
  return writeCookie(name, "", 0);
}

/**
 * The name that is sent. With the prefix `__Host-`, only this exact host can set the cookie (RFC 6265bis §4.1.3.2). The
 * prefix needs HTTPS, so development over HTTP does without it.
 */
function nameSent(name: AnyCookieName): string {
  return name !== "__session" && isHttps(name) ? `__Host-${name}` : name;
}

function isHttps(name: AnyCookieName): boolean {
  const { appUrl, office } = settings();
  const url = name.startsWith("operator-") ? office?.url : appUrl;
  return url?.startsWith("https:") === true;
}
