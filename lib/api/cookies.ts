import { settings } from "@/lib/settings/settings";

/** The first cookie of that name that has a value: a browser sends the one of the most specific path first (RFC 6265 §5.4). */
export function readCookie(headers: Pick<Headers, "get">, name: string): string | undefined {
  const start = `${name}=`;
  for (const cookie of headers.get("cookie")?.split(";") ?? []) {
    const trimmed = trimBlanks(cookie);
    if (trimmed.startsWith(start) && trimmed.length > start.length) return trimmed.slice(start.length);
  }
  return undefined;
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
export function writeCookie(
  name: string,
  value: string,
  { path, maxAgeSeconds }: { path: string; maxAgeSeconds: number },
): string {
  const secure = settings().appUrl.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** A `Set-Cookie` that takes a cookie away. */
export function dropCookie(name: string, path: string): string {
  return writeCookie(name, "", { path, maxAgeSeconds: 0 });
}
