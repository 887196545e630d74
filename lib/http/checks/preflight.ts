import type { Call } from "@/lib/http/call";
import { allowNames } from "@/lib/http/cors";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** `Allow` (RFC 9110 §9.3.7) and, where CORS allows any origin, the headers of a preflight. */
export function answerOptions(
  { method, headers: sent }: Call,
  { methods, anyOrigin }: Route,
): ResponseParts | undefined {
  if (method !== "OPTIONS") return undefined;
  const allow = methods.join(", ");
  const headers = ["allow", allow];
  if (anyOrigin) {
    const names = allowNames(anyOrigin.sends, sent.get("access-control-request-headers"));
    headers.push("access-control-allow-methods", allow, "access-control-allow-headers", names);
    headers.push("access-control-max-age", "7200");
  }
  return { status: 204, body: null, headers };
}
