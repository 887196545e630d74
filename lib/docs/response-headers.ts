import { type QuotaName, quotas } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { requestIdPattern } from "@/lib/http/call";
import type { Operation } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";

export type HeaderDocument = {
  name: string;
  meaning: string;
  example: string;
  /** A regular expression that matches its value. */
  pattern: string;
  /** Whether every response of this kind has it. */
  always: boolean;
};

/** What each header of any response means. */
export const headerMeanings = {
  "API-Version": "Confirms the major version.",
  Link: 'The policy on versions and retirement (`rel="deprecation"`, RFC 9745).',
  "X-Request-Id": "The id of this request in our log: yours if it was valid, otherwise a new one.",
  "Cache-Control": "Who may store the response, and how long.",
  "RateLimit-Policy": "The quota: its name, and `q` requests in `w` seconds.",
  RateLimit: "The remaining quota: `r` requests. On a `429`, `t` seconds until one is accepted.",
  "RateLimit-Limit": "For older clients: the requests allowed in the window.",
  "RateLimit-Remaining": "For older clients: the requests remaining.",
  Age: "The seconds for which we have had what this says. Caches subtract them from `max-age`.",
  "Access-Control-Allow-Origin": "Browsers on any origin may read the response.",
  "Access-Control-Expose-Headers": "The headers that browsers on other origins may read.",
  Vary: "Caches store one copy for each `API-Version`.",
  Deprecation:
    "Only after a retirement is announced: the deprecation date, as `@` and Unix seconds (RFC 9745).",
  Sunset: "Only after a retirement is announced: when it starts to return `410`, as an HTTP date (RFC 8594).",
  "WWW-Authenticate":
    'The authentication scheme (RFC 6750, section 3), with `error="invalid_token"` if a token was sent. For a token that is bound to a key the scheme is `DPoP`, and `error_description` says what is wrong with its proof (RFC 9449, section 7.1).',
  "DPoP-Nonce":
    'With `error="use_dpop_nonce"`, what the next proofs have to say as `nonce` (RFC 9449, section 9).',
  Allow: "The methods that the path accepts.",
  "Retry-After": "Seconds to wait before asking again; add a small random delay.",
};

function header(
  name: keyof typeof headerMeanings,
  example: string,
  pattern = `^${example}$`,
  always = true,
): HeaderDocument {
  return { name, meaning: headerMeanings[name], example, pattern, always };
}

const nonceExample = "q0eGqZ9cTz4b2yXoTtq0w8bqSJYc6oYqg3m7L1dVhN8";

/** The headers of an operation's responses with this status. */
export function headersOf(operation: Operation, status: number): HeaderDocument[] {
  const { anyOrigin, caching, methods, quota } = operation;
  const isRetiring = operation.retirement !== undefined;
  const bearer = 'Bearer realm="corner-office"';
  const dpop = 'DPoP realm="corner-office", error="[a-z_]+", error_description="[^"]+", algs="[^"]+"';
  return [
    ...defaults(status === 200 ? caching : "no-store"),
    ...(quota && ![400, 405, 410].includes(status) ? rateLimitHeaders(quota, status === 429) : []),
    ...(status === 200 && caching.startsWith("public") ? [header("Age", "7", "^\\d+$")] : []),
    ...(anyOrigin ? corsHeaders(anyOrigin.reads) : []),
    // Documented before anything is retired, so that clients can prepare.
    header("Deprecation", "@1801440000", "^@\\d+$", isRetiring),
    header("Sunset", "Thu, 01 Apr 2027 00:00:00 GMT", " GMT$", isRetiring),
    ...(status === 401
      ? [
          header("WWW-Authenticate", bearer, `^(?:${bearer}(, error="invalid_token")?|${dpop})$`),
          header("DPoP-Nonce", nonceExample, "^[\\w-]{43}$", false),
        ]
      : []),
    ...(status === 405 ? [header("Allow", methods.join(", "))] : []),
    ...([429, 502, 503].includes(status) ? [retryAfter(status === 429)] : []),
  ];
}

export const retryAfter = (always: boolean) => header("Retry-After", "17", "^[1-9]\\d*$", always);

/** The headers of every response. The request's id is not on those that shared caches may store. */
export function defaults(caching: string): HeaderDocument[] {
  const policy = `${pages.policy.path}>; rel="deprecation"; type="text/html"`;
  const id = "3f0e2a6c-5d0b-4b8e-9f35-0a4b7f1c2d9e";
  return [
    header("API-Version", "1"),
    header("Link", `<${settings().appUrl}${policy}`, `^<https?://[^>]+${policy}`),
    ...(caching.startsWith("public") ? [] : [header("X-Request-Id", id, requestIdPattern.source)]),
    header("Cache-Control", caching),
  ];
}

function corsHeaders(exposed: string): HeaderDocument[] {
  return [
    header("Access-Control-Allow-Origin", "*", "^\\*$"),
    header("Access-Control-Expose-Headers", exposed),
    header("Vary", "API-Version", "API-Version"),
  ];
}

/** Those of a counted response. Of the refusals with 429, those that come before counting have none. */
function rateLimitHeaders(name: QuotaName, isRefused: boolean): HeaderDocument[] {
  const { requests, windowSeconds } = quotas[name];
  const always = !isRefused;
  const [left, waits] = isRefused ? ["0", ";t=[1-9]\\d*"] : [`${requests - 1}`, ""];
  return [
    header(
      "RateLimit-Policy",
      `"${name}";q=${requests};w=${windowSeconds}`,
      `^"${name}";q=\\d+;w=\\d+$`,
      always,
    ),
    header(
      "RateLimit",
      `"${name}";r=${left}${isRefused ? ";t=17" : ""}`,
      `^"${name}";r=${isRefused ? 0 : "\\d+"}${waits}$`,
      always,
    ),
    header("RateLimit-Limit", `${requests}`, "^\\d+$", always),
    header("RateLimit-Remaining", left, "^\\d+$", always),
  ];
}
