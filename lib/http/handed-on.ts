import { handedOn } from "@/lib/config/limits";

const { characters, charactersOfPost } = handedOn;

/** The headers that Next may see of a request, in the length that it needs: {@link handedOn}. */
export function boundHeaders(
  method: string | undefined,
  read: (name: string) => string | null | undefined,
): [name: string, value: string][] {
  const most = method === "POST" ? { ...characters, ...charactersOfPost } : characters;
  return Object.entries(most).flatMap(([name, length]) => {
    const value = read(name);
    const kept = name === "cookie" ? ownCookies(value ?? "") : value?.slice(0, length);
    return kept ? [[name, kept]] : [];
  });
}

/** Ours and Clerk's. Those of other hosts of the same domain come along, and nobody here reads them. */
const own = /^(?:(?:__Host-)?office-|__(?:session|client|clerk|refresh|dev_session))/;

/** Who sends more of them than there are has none: of two of one name the second must not get lost. */
function ownCookies(sent: string): string {
  const cookies = sent
    .split(";")
    .map((cookie) => cookie.trimStart())
    .filter((cookie) => own.test(cookie));
  return cookies.length > handedOn.cookies ? "" : cookies.join("; ");
}

/** A target with no more parameters than a page has. */
export function boundQuery(target: string): string {
  const [path = "", ...query] = target.split("?");
  if (query.length === 0) return target;
  return `${path}?${query.join("?").split("&", handedOn.parameters).join("&")}`;
}
