import { forwardedLimits } from "@/lib/config/limits";

const { characters, charactersOfPost } = forwardedLimits;

/** The request headers that Next gets, each cut to the limit in {@link forwardedLimits}. */
export function limitHeaders(
  method: string | undefined,
  read: (name: string) => string | null | undefined,
): [name: string, value: string][] {
  const limits = method === "POST" ? { ...characters, ...charactersOfPost } : characters;
  return Object.entries(limits).flatMap(([name, length]) => {
    const value = read(name);
    const kept = name === "cookie" ? ownCookies(value ?? "") : value?.slice(0, length);
    return kept ? [[name, kept]] : [];
  });
}

/** Our cookies and Clerk's. Browsers also send those of other hosts of the same domain, which we do not read. */
const own = /^(?:(?:__Host-)?office-|__(?:session|client|clerk|refresh|dev_session))/;

/** Above the limit, no cookie is passed on: cutting could drop the second of two with the same name. */
function ownCookies(sent: string): string {
  const cookies = sent
    .split(";")
    .map((cookie) => cookie.trimStart())
    .filter((cookie) => own.test(cookie));
  return cookies.length > forwardedLimits.cookies ? "" : cookies.join("; ");
}

/** Cuts a request target to the maximum number of query parameters. */
export function limitQuery(target: string): string {
  const [path = "", ...query] = target.split("?");
  if (query.length === 0) return target;
  return `${path}?${query.join("?").split("&", forwardedLimits.parameters).join("&")}`;
}
