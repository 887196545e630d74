import type { z } from "zod";
import { headBoundsInWords, quotas } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { defaults, type HeaderDocument, headersOf, retryAfter } from "@/lib/docs/response-headers";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { apiError, type Operation, operations, type Status, schemaOf } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { denialCodes } from "@/lib/plans/entitlement";
import { rateLimitMessage } from "@/lib/rate-limit/rate-limit";

/** One kind of response of an operation, for the reference and the API description. */
export type AnswerDocument = {
  status: number;
  meaning: string;
  /** An example of each possible `error.code`; empty for a success. */
  refusals: Partial<Record<ErrorCode, object>>;
  schema: z.ZodType;
  headers: readonly HeaderDocument[];
};

const meanings: Record<Status, string> = {
  200: "The request succeeded.",
  400: "The request could not be understood.",
  401: "You are not signed in.",
  403: "Signed in, but the account may not run.",
  405: "The method is not accepted.",
  410: "The operation has been retired, and its sunset has passed.",
  413: "The body is too large.",
  429: "Too many requests from this address, or at once.",
  500: "An unexpected error on our side.",
  502: "Some of the later emails may still be sent. Use the link again.",
  503: "The service cannot answer this at the moment.",
};

/** The responses of an operation, by ascending status. */
export function answersOf(operation: Operation): AnswerDocument[] {
  const retired: Operation["codes"] = operation.retirement ? { 410: ["not_found"] } : {};
  return Object.entries({ 200: [], ...operation.codes, ...retired }).map(([text, codes]) => {
    const status = Number(text) as Status;
    const schema = schemaOf(operation, status);
    const quota = status === 429 && operation.quota && quotas[operation.quota];
    const message = quota ? rateLimitMessage(quota.requests, quota.windowSeconds, 17) : undefined;
    return {
      status,
      meaning: meanings[status],
      refusals: Object.fromEntries(codes.map((code) => [code, exampleRefusal(code, schema, message)])),
      schema,
      headers: headersOf(operation, status),
    };
  });
}

/** The refusals before a request is routed, which any operation can answer with. */
export const earlyRefusals = () => [
  earlyRefusal("RequestTimeout", 408, "invalid_request", "The request took too long to arrive."),
  earlyRefusal(
    "TooManyAtOnce",
    429,
    "unavailable",
    "Too many requests of this connection or network at once.",
  ),
  earlyRefusal("HeadersTooLarge", 431, "too_large", `The headers are over ${headBoundsInWords}.`),
];

function earlyRefusal(name: string, status: number, code: ErrorCode, message: string) {
  const refusals = { [code]: exampleRefusal(code, apiError, message) };
  const headers = [...defaults("no-store"), ...(status === 429 ? [retryAfter(true)] : [])];
  return { name, status, meaning: message, refusals, schema: apiError, headers };
}

/** An example of the refusal with this code, in the shape of this schema. */
export function exampleRefusal(
  code: ErrorCode,
  schema: z.ZodType = apiError,
  message: string = errorCatalogue[code].message,
) {
  const { hint } = errorCatalogue[code];
  const error = { code, message, hint, docs: `${settings().appUrl}${pages.errors.path}#${code}` };
  if (schema !== operations.entitlement.denial) return { error };
  const [status] = Object.entries(denialCodes).find(([, other]) => other === code) ?? [];
  return { ok: false, status, message, error };
}
