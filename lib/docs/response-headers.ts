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
  if (operation.quota && ![400, 405, 410].includes(status))
    headers.push(...rateLimitHeaders(operation.quota, status === 429));
  if (status === 200 && operation.caching.startsWith("public")) headers.push(age);
  if (operation.anyOrigin) headers.push(...crossOrigin(operation.anyOrigin.reads));
  headers.push(...retirementHeaders(retirementOf(operation) !== undefined));
  if (status === 401) headers.push(challenge);
  if (status === 405) headers.push(allow(operation.methods.join(", ")));
  if (status === 429) headers.push({ ...retryAfter, always: true });
  if (status === 502 || status === 503) headers.push(retryAfter);
  return headers;
}

/** On responses that shared caches may store. */
const age: HeaderDocument = {
  name: "Age",
  meaning: "The seconds for which we have had what this says. Caches subtract them from `max-age`.",
  example: "7",
  pattern: "^\\d+$",
  always: true,
};

/** Not on responses that shared caches may store. */
const requestId: HeaderDocument = {
  name: "X-Request-Id",
  meaning: "The id of this request in our log: yours if it was valid, otherwise a new one.",
  example: "3f0e2a6c-5d0b-4b8e-9f35-0a4b7f1c2d9e",
  pattern: requestIdPattern.source,
  always: true,
};

/** The headers of every response. */
export function defaults(caching: string): HeaderDocument[] {
  return [
    {
      name: "API-Version",
      meaning: "Confirms the major version.",
      example: "1",
      pattern: "^1$",
      always: true,
    },
    {
      name: "Link",
      meaning: 'The policy on versions and retirement (`rel="deprecation"`, RFC 9745).',
      example: `<${placeholderAddress}${pages.policy.path}>; rel="deprecation"; type="text/html"`,
      pattern: `^<https?://[^>]+${pages.policy.path}>; rel="deprecation"; type="text/html"`,
      always: true,
    },
    ...(caching.startsWith("public") ? [] : [requestId]),
    {
      name: "Cache-Control",
      meaning: "Who may store the response, and how long.",
      example: caching,
      pattern: `^${caching}$`,
      always: true,
    },
  ];
}

function rateLimitHeaders(name: QuotaName, isRefused: boolean): HeaderDocument[] {
  const { requests, windowSeconds } = quotas[name];
  const left = isRefused ? 0 : requests - 1;
  return [
    {
      name: "RateLimit-Policy",
      meaning: "The quota: its name, and `q` requests in `w` seconds.",
      example: `"${name}";q=${requests};w=${windowSeconds}`,
      pattern: `^"${name}";q=\\d+;w=\\d+$`,
      always: true,
    },
    {
      name: "RateLimit",
      meaning: "The remaining quota: `r` requests. On a `429`, `t` seconds until one is accepted.",
      example: isRefused ? `"${name}";r=0;t=17` : `"${name}";r=${left}`,
      pattern: isRefused ? `^"${name}";r=0;t=[1-9]\\d*$` : `^"${name}";r=\\d+$`,
      always: true,
    },
    {
      name: "RateLimit-Limit",
      meaning: "For older clients: the requests allowed in the window.",
      example: String(requests),
      pattern: "^\\d+$",
      always: true,
    },
    {
      name: "RateLimit-Remaining",
      meaning: "For older clients: the requests remaining.",
      example: String(left),
      pattern: "^\\d+$",
      always: true,
    },
  ];
}

const crossOrigin = (reads: string): HeaderDocument[] => [
  {
    name: "Access-Control-Allow-Origin",
    meaning: "Browsers on any origin may read the response.",
    example: "*",
    pattern: "^\\*$",
    always: true,
  },
  {
    name: "Access-Control-Expose-Headers",
    meaning: "The headers that browsers on other origins may read.",
    example: reads,
    pattern: `^${reads}$`,
    always: true,
  },
  {
    name: "Vary",
    meaning: "Caches store one copy for each `API-Version`.",
    example: "API-Version",
    pattern: "API-Version",
    always: true,
  },
];

/** Documented before anything is retired, so that clients can prepare. */
function retirementHeaders(isRetiring: boolean): HeaderDocument[] {
  return [
    {
      name: "Deprecation",
      meaning:
        "Only after a retirement is announced: the deprecation date, as `@` and Unix seconds (RFC 9745).",
      example: "@1801440000",
      pattern: "^@\\d+$",
      always: isRetiring,
    },
    {
      name: "Sunset",
      meaning:
        "Only after a retirement is announced: when it starts to return `410`, as an HTTP date (RFC 8594).",
      example: "Thu, 01 Apr 2027 00:00:00 GMT",
      pattern: " GMT$",
      always: isRetiring,
    },
  ];
}

const challenge: HeaderDocument = {
  name: "WWW-Authenticate",
  meaning: 'The authentication scheme (RFC 6750 §3), with `error="invalid_token"` if a token was sent.',
  example: 'Bearer realm="corner-office"',
  pattern: '^Bearer realm="corner-office"(, error="invalid_token")?$',
  always: true,
};

const allow = (methods: string): HeaderDocument => ({
  name: "Allow",
  meaning: "The methods that the path accepts.",
  example: methods,
  pattern: `^${methods}$`,
  always: true,
});

const retryAfter: HeaderDocument = {
  name: "Retry-After",
  meaning: "Seconds to wait before asking again; add a small random delay.",
  example: "17",
  pattern: "^[1-9]\\d*$",
  always: false,
};
