import { z } from "zod";
import { errorCatalogue, type PublicErrorCode } from "@/lib/api/errors";
import { quotas } from "@/lib/api/limits";
import type { Operation } from "@/lib/api/operations";
import { apiError, entitlementDenied } from "@/lib/api/schemas";
import { type DeniedStatus, denialCodes } from "@/lib/entitlement";

/** One kind of answer of an operation, as the reference and the API description tell it. */
export type AnswerDocument = {
  status: number;
  meaning: string;
  /** What `error.code` can be; none where it worked. */
  codes: readonly PublicErrorCode[];
  schema: z.ZodType;
  headers: readonly HeaderDocument[];
};

export type HeaderDocument = {
  name: string;
  meaning: string;
  example: string;
  /** What its value looks like. */
  pattern: string;
  /** Whether every answer of this kind carries it. */
  always: boolean;
};

const meanings: Record<number, string> = {
  200: "It worked.",
  400: "The request could not be understood.",
  401: "There is no signed-in session.",
  403: "Signed in, and the account may not run.",
  405: "The method is not accepted.",
  413: "The body is too large.",
  429: "Too many requests from this address.",
  500: "A fault of ours.",
  502: "It is not certain that the emails are stopped; use the link again.",
  503: "It cannot be answered at the moment.",
};

/** The answers of an operation, by rising status. */
export function answersOf(operation: Operation): AnswerDocument[] {
  return Object.entries(operation.answers).map(([text, schema]) => {
    const status = Number(text);
    return {
      status,
      meaning: meanings[status] ?? "",
      codes: operation.codes[status] ?? [],
      schema,
      headers: headersOf(operation, status),
    };
  });
}

/** What is answered before anybody knows which operation was meant, so by any of them. */
export const earlyRefusals: readonly (AnswerDocument & { name: string })[] = [
  {
    name: "RequestTimeout",
    status: 408,
    meaning: "The request took too long to arrive.",
    codes: ["invalid_request"],
  },
  { name: "HeadersTooLarge", status: 431, meaning: "The headers are over 16 KiB.", codes: ["too_large"] },
].map(
  (refusal) =>
    ({ ...refusal, schema: apiError, headers: stamp("no-store") }) as AnswerDocument & { name: string },
);

/** An example of the refusal with this code, as this operation words it. */
export function exampleRefusal(schema: z.ZodType, status: number, code: PublicErrorCode, appUrl: string) {
  const { hint, ...entry } = errorCatalogue[code];
  const { requests, windowSeconds } = quotas.health;
  const message =
    status === 429
      ? `Too many requests: ${requests} are allowed in ${windowSeconds} seconds. Wait 17 seconds.`
      : entry.message;
  const error = { code, message, hint, docs: `${appUrl}/docs/api/errors#${code}` };
  if (schema !== entitlementDenied) return { error };
  const [denied] = Object.entries(denialCodes).find(([, other]) => other === code) ?? [];
  return { ok: false, status: denied as DeniedStatus, message, error };
}

/** The fields of a resource, those inside an object by their path. */
export function fieldsOf(schema: z.ZodType): FieldDocument[] {
  return fieldsWithin(z.toJSONSchema(schema) as JsonSchema, "");
}

export type FieldDocument = { name: string; type: string; required: boolean; meaning: string };

type JsonSchema = {
  type?: string;
  const?: unknown;
  enum?: string[];
  format?: string;
  minimum?: number;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
};

function fieldsWithin({ properties = {}, required = [] }: JsonSchema, prefix: string): FieldDocument[] {
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = prefix + key;
    const object = [property, ...(property.anyOf ?? [])].find((candidate) => candidate.properties);
    const field = {
      name,
      type: typeOf(property),
      required: required.includes(key),
      meaning: property.description ?? "",
    };
    return [field, ...(object ? fieldsWithin(object, `${name}.`) : [])];
  });
}

function typeOf({ type, enum: values, format, minimum, anyOf }: JsonSchema): string {
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (values && values.length <= 5) return `${type}: ${values.map((value) => `\`${value}\``).join(", ")}`;
  const least = minimum === undefined ? "" : `, at least ${minimum}`;
  return `${type}${format ? `, ${format}` : ""}${least}`;
}

function headersOf(operation: Operation, status: number): HeaderDocument[] {
  const headers = [...stamp(status === 200 ? operation.caching : "no-store")];
  const isCounted = operation.quota && ![400, 405].includes(status);
  if (isCounted) headers.push(...quotaHeaders(operation.quota ?? "", status === 429));
  if (operation.anyOrigin) headers.push(...crossOrigin);
  headers.push(...retirementHeaders(operation.retirement !== undefined));
  if (status === 401) headers.push(challenge);
  if (status === 405) headers.push({ ...allow, example: operation.methods.join(", ") });
  if (status === 429) headers.push({ ...retryAfter, always: true });
  if (status === 503) headers.push(retryAfter);
  return headers;
}

/** What the way out puts on every answer. */
function stamp(caching: string): HeaderDocument[] {
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
      meaning: 'Where the policy on versions and retirement is (`rel="deprecation"`, RFC 9745).',
      example: '<https://office.example.com/docs/api/policy>; rel="deprecation"; type="text/html"',
      pattern: '^<https?://[^>]+/docs/api/policy>; rel="deprecation"; type="text/html"',
      always: true,
    },
    {
      name: "X-Request-Id",
      meaning: "Names this request in our log: the one you sent, when it is sane, or a new one.",
      example: "3f0e2a6c-5d0b-4b8e-9f35-0a4b7f1c2d9e",
      pattern: "^[\\w.:-]{1,128}$",
      always: true,
    },
    {
      name: "Cache-Control",
      meaning: "Who may keep the answer, and how long.",
      example: caching,
      pattern: `^${caching}$`,
      always: true,
    },
  ];
}

function quotaHeaders(name: string, isRefused: boolean): HeaderDocument[] {
  const { requests, windowSeconds } = quotas.health;
  const left = isRefused ? 0 : requests - 1;
  return [
    {
      name: "RateLimit-Policy",
      meaning: "The quota: its name, `q` requests in `w` seconds.",
      example: `"${name}";q=${requests};w=${windowSeconds}`,
      pattern: `^"${name}";q=\\d+;w=\\d+$`,
      always: true,
    },
    {
      name: "RateLimit",
      meaning: "What is left: `r` requests. On a refusal, `t` seconds until one is accepted.",
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
      meaning: "For older clients: the requests that are left.",
      example: String(left),
      pattern: "^\\d+$",
      always: true,
    },
  ];
}

const crossOrigin: HeaderDocument[] = [
  {
    name: "Access-Control-Allow-Origin",
    meaning: "Browsers on any origin may read the answer.",
    example: "*",
    pattern: "^\\*$",
    always: true,
  },
  {
    name: "Access-Control-Expose-Headers",
    meaning: "The headers that such a browser may read.",
    example: "API-Version, Deprecation, Link, Sunset, X-Request-Id",
    pattern: "API-Version",
    always: true,
  },
  {
    name: "Vary",
    meaning: "A cache keeps one copy for each `API-Version`.",
    example: "API-Version",
    pattern: "API-Version",
    always: true,
  },
];

/** Documented before anything is retired, so that a client can be ready for them. */
function retirementHeaders(isRetiring: boolean): HeaderDocument[] {
  return [
    {
      name: "Deprecation",
      meaning: "Only once a retirement is announced: when it is deprecated, `@` and Unix seconds (RFC 9745).",
      example: "@1801440000",
      pattern: "^@\\d+$",
      always: isRetiring,
    },
    {
      name: "Sunset",
      meaning: "Only once a retirement is announced: when it stops working, an HTTP date (RFC 8594).",
      example: "Thu, 01 Apr 2027 00:00:00 GMT",
      pattern: " GMT$",
      always: isRetiring,
    },
  ];
}

const challenge: HeaderDocument = {
  name: "WWW-Authenticate",
  meaning: 'How to sign in (RFC 6750 §3). With `error="invalid_token"` where a token was sent.',
  example: 'Bearer realm="corner-office"',
  pattern: '^Bearer realm="corner-office"(, error="invalid_token")?$',
  always: true,
};

const allow: HeaderDocument = {
  name: "Allow",
  meaning: "The methods that the address accepts.",
  example: "GET, HEAD, OPTIONS",
  pattern: "^(GET, HEAD|POST), OPTIONS$",
  always: true,
};

const retryAfter: HeaderDocument = {
  name: "Retry-After",
  meaning: "Seconds to wait before asking again; add a small random delay.",
  example: "17",
  pattern: "^[1-9]\\d*$",
  always: false,
};
