import type { z } from "zod";
import { type DeniedStatus, denialCodes } from "@/lib/accounts/entitlement";
import { errorCatalogue, type PublicErrorCode } from "@/lib/api/errors";
import type { Operation } from "@/lib/api/operations";
import { apiError, entitlementDenied } from "@/lib/api/schemas";
import { type HeaderDocument, headersOf, stamp } from "@/lib/docs/answer-headers";
import { placeholderAddress } from "@/lib/docs/markdown";
import { quotas } from "@/lib/settings/limits";

/** One kind of answer of an operation, as the reference and the API description tell it. */
export type AnswerDocument = {
  status: number;
  meaning: string;
  /** What `error.code` can be; none where it worked. */
  codes: readonly PublicErrorCode[];
  schema: z.ZodType;
  headers: readonly HeaderDocument[];
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
export const earlyRefusals = [
  earlyRefusal("RequestTimeout", 408, "The request took too long to arrive.", "invalid_request"),
  earlyRefusal("HeadersTooLarge", 431, "The headers are over 16 KiB.", "too_large"),
];

function earlyRefusal(name: string, status: number, meaning: string, code: PublicErrorCode) {
  return { name, status, meaning, codes: [code], schema: apiError, headers: stamp("no-store") };
}

/** An example of the refusal with this code, as this operation words it. */
export function exampleRefusal(schema: z.ZodType, status: number, code: PublicErrorCode) {
  const { hint, ...entry } = errorCatalogue[code];
  const { requests, windowSeconds } = quotas.health;
  const message =
    status === 429
      ? `Too many requests: ${requests} are allowed in ${windowSeconds} seconds. Wait 17 seconds.`
      : entry.message;
  const error = { code, message, hint, docs: `${placeholderAddress}/docs/api/errors#${code}` };
  if (schema !== entitlementDenied) return { error };
  const [denied] = Object.entries(denialCodes).find(([, other]) => other === code) ?? [];
  return { ok: false, status: denied as DeniedStatus, message, error };
}
