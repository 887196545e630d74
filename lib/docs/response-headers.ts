import { type QuotaName, quotas } from "@/lib/config/limits";
import { placeholderAddress } from "@/lib/docs/markdown";
import type { Operation } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { requestIdPattern } from "@/lib/http/request-context";
import { retirementOf } from "@/lib/http/retirement";

export type HeaderDocument = {
  name: string;
  meaning: string;
  example: string;
  /** A regular expression that matches its value. */
  pattern: string;
  /** Whether every response of this kind has it. */
  always: boolean;
};

/** The headers of an operation's responses with this status. */
export function headersOf(operation: Operation, status: number): HeaderDocument[] {
  const headers = [...defaults(status === 200 ? operation.caching : "no-store")];
  const add = (...parts: Parameters<typeof header>) => headers.push(header(...parts));
  if (operation.quota && ![400, 405, 410].includes(status))
    headers.push(...rateLimitHeaders(operation.quota, status === 429));
  if (status === 200 && operation.caching.startsWith("public"))
    add(
      "Age",
      "The seconds for which we have had what this says. Caches subtract them from `max-age`.",
      "7",
      "^\\d+$",
    );
  if (operation.anyOrigin) {
    const { reads } = operation.anyOrigin;
    add("Access-Control-Allow-Origin", "Browsers on any origin may read the response.", "*", "^\\*$");
    const exposed = "The headers that browsers on other origins may read.";
    add("Access-Control-Expose-Headers", exposed, reads, `^${reads}$`);
    add("Vary", "Caches store one copy for each `API-Version`.", "API-Version", "API-Version");
  }
  headers.push(...retirementHeaders(retirementOf(operation) !== undefined));
  const methods = operation.methods.join(", ");
  const scheme = 'Bearer realm="corner-office"';
  if (status === 401) {
    const challenge =
      'The authentication scheme (RFC 6750 §3), with `error="invalid_token"` if a token was sent.';
    add("WWW-Authenticate", challenge, scheme, `^${scheme}(, error="invalid_token")?$`);
  }
  if (status === 405) add("Allow", "The methods that the path accepts.", methods, `^${methods}$`);
  if (status === 429 || status === 502 || status === 503) {
    const wait = "Seconds to wait before asking again; add a small random delay.";
    add("Retry-After", wait, "17", "^[1-9]\\d*$", status === 429);
  }
  return headers;
}

function header(
  name: string,
  meaning: string,
  example: string,
  pattern: string,
  always = true,
): HeaderDocument {
  return { name, meaning, example, pattern, always };
}

/** The headers of every response. The request's id is not on those that shared caches may store. */
export function defaults(caching: string): HeaderDocument[] {
  const policy = `${pages.policy.path}>; rel="deprecation"; type="text/html"`;
  const policyMeaning = 'The policy on versions and retirement (`rel="deprecation"`, RFC 9745).';
  const idMeaning = "The id of this request in our log: yours if it was valid, otherwise a new one.";
  const id = "3f0e2a6c-5d0b-4b8e-9f35-0a4b7f1c2d9e";
  return [
    header("API-Version", "Confirms the major version.", "1", "^1$"),
    header("Link", policyMeaning, `<${placeholderAddress}${policy}`, `^<https?://[^>]+${policy}`),
    ...(caching.startsWith("public") ? [] : [header("X-Request-Id", idMeaning, id, requestIdPattern.source)]),
    header("Cache-Control", "Who may store the response, and how long.", caching, `^${caching}$`),
  ];
}

function rateLimitHeaders(name: QuotaName, isRefused: boolean): HeaderDocument[] {
  const { requests, windowSeconds } = quotas[name];
  const left = isRefused ? 0 : requests - 1;
  const [wait, waits] = isRefused ? [";t=17", ";t=[1-9]\\d*"] : ["", ""];
  const [policy, policies] = [`q=${requests};w=${windowSeconds}`, "q=\\d+;w=\\d+"];
  const quotaMeaning = "The quota: its name, and `q` requests in `w` seconds.";
  const leftMeaning = "The remaining quota: `r` requests. On a `429`, `t` seconds until one is accepted.";
  return [
    header("RateLimit-Policy", quotaMeaning, `"${name}";${policy}`, `^"${name}";${policies}$`),
    header(
      "RateLimit",
      leftMeaning,
      `"${name}";r=${left}${wait}`,
      `^"${name}";r=${isRefused ? 0 : "\\d+"}${waits}$`,
    ),
    header(
      "RateLimit-Limit",
      "For older clients: the requests allowed in the window.",
      `${requests}`,
      "^\\d+$",
    ),
    header("RateLimit-Remaining", "For older clients: the requests remaining.", `${left}`, "^\\d+$"),
  ];
}

/** Documented before anything is retired, so that clients can prepare. */
function retirementHeaders(isRetiring: boolean): HeaderDocument[] {
  const only = "Only after a retirement is announced:";
  const sunset = `${only} when it starts to return \`410\`, as an HTTP date (RFC 8594).`;
  const deprecation = `${only} the deprecation date, as \`@\` and Unix seconds (RFC 9745).`;
  return [
    header("Deprecation", deprecation, "@1801440000", "^@\\d+$", isRetiring),
    header("Sunset", sunset, "Thu, 01 Apr 2027 00:00:00 GMT", " GMT$", isRetiring),
  ];
}
