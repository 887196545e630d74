import { oauthSeconds } from "@/lib/config/lifetimes";
import { clearCookie, readCookie, writeCookie } from "@/lib/http/cookies";
import { pages } from "@/lib/http/register/pages";
import { hashSecret } from "@/lib/runtime/secret";

/*
 * The requests that were begun in a browser, in its cookie: the newest first, each by the name that the form of its page
 * sends back. Only this browser can answer them and lead to their apps, in as many tabs as it likes.
 */

const maxRequests = 5;
const between = "~";
/** Marks a request whose app was sent its answer, or that waits at its device. Its page may be opened again. */
const sent = "sent.";

type Sent = Pick<Headers, "get">;

/** The names of the requests, the newest first. */
export function listRequests(headers: Sent): string[] {
  return readEntries(headers).map(nameOf);
}

/** The names of those whose apps were not sent an answer. */
export function listUnsent(headers: Sent): string[] {
  return readEntries(headers).filter((entry) => nameOf(entry) === entry);
}

/** Names a request in URLs. Without the cookie it is worth nothing. */
export function handleOf(name: string): string {
  return hashSecret("request", name).slice(0, 12);
}

/** The name of the request with this handle; of the newest one without a handle. */
export function findRequest(headers: Sent, handle: string | null | undefined): string | undefined {
  return listRequests(headers).find((name) => !handle || handleOf(name) === handle);
}

/** The address of the page that shows this request, and nothing else. */
export function pageOfRequest(name: string): string {
  return `${pages.connect.path}?request=${handleOf(name)}`;
}

/** The address of the page after its answer, which leads on. */
export function pageOfAnswer(name: string, by: string, outcome: string): string {
  return `${pages.connect.path}?answered=${by}&outcome=${outcome}&request=${handleOf(name)}`;
}

/** The `Set-Cookie` that adds a request, or makes it the newest. */
export function keepRequest(headers: Sent, name: string): string {
  return write([name, ...othersThan(headers, name)]);
}

/** The `Set-Cookie` that notes that a request needs its owner no more: the first to go when others come, after older ones. */
export function settleRequest(headers: Sent, name: string): string {
  const others = othersThan(headers, name);
  const settled = others.filter((entry) => nameOf(entry) !== entry);
  return write([...others.filter((entry) => !settled.includes(entry)), sent + name, ...settled]);
}

function readEntries(headers: Sent): string[] {
  return readCookie(headers, "office-request")?.split(between).slice(0, maxRequests) ?? [];
}

const nameOf = (entry: string) => (entry.startsWith(sent) ? entry.slice(sent.length) : entry);

const othersThan = (headers: Sent, name: string) =>
  readEntries(headers).filter((entry) => nameOf(entry) !== name);

function write(entries: string[]): string {
  if (entries.length === 0) return clearCookie("office-request");
  const value = entries.slice(0, maxRequests).join(between);
  return writeCookie("office-request", value, oauthSeconds.request);
}
