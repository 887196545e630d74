import * as z from "zod";
import { readableName } from "@/lib/auth/readable-name";
import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { createHandler } from "@/lib/http/handler";
import { parseJson } from "@/lib/http/json";
import { connectEndpoints } from "@/lib/http/pages";
import type { ResponseParts } from "@/lib/http/response";
import { clientDefaults, unnamedClient } from "@/lib/oauth/clients";
import { isAllowedRedirectUri } from "@/lib/oauth/redirect-uri";
import { issueClient } from "@/lib/oauth/registered-clients";

const { registrationBytes } = oauthBounds;

/** The metadata that we accept (RFC 7591 §2). Others are replaced by our defaults, which the response shows. */
const application = z.object({
  client_name: z
    .string()
    .max(80)
    .transform((name) => readableName(name))
    .pipe(z.string())
    .default(unnamedClient),
  redirect_uris: z.array(z.string().max(400).refine(isAllowedRedirectUri)).min(1).max(10),
});

/**
 * The route handler of dynamic client registration (RFC 7591), unless the operator has disabled it. The client is public
 * like every client, its name is unverified, and it expires after a day unless an owner approves it.
 */
export const register = createHandler(connectEndpoints.registration, ({ body, nowMs }) => {
  const requested = application.safeParse(parseJson(body));
  if (!requested.success) {
    const isRedirectUri = requested.error.issues.some(({ path }) => path[0] === "redirect_uris");
    return refuse(isRedirectUri ? "invalid_redirect_uri" : "invalid_client_metadata");
  }
  if (Buffer.byteLength(JSON.stringify(requested.data)) > registrationBytes) {
    return refuse("invalid_client_metadata");
  }
  return { status: 201, body: { ...clientDefaults, ...issueClient(requested.data, nowMs) } };
});

/** An error response (RFC 7591 §3.2.2). */
function refuse(error: "invalid_redirect_uri" | "invalid_client_metadata"): ResponseParts {
  const error_description = {
    invalid_redirect_uri:
      "redirect_uris takes one to ten, spelled canonically: loopback, HTTPS, or a scheme with a dot in it, and none of this server.",
    invalid_client_metadata: `Send a JSON object; client_name has 80 characters at most, and with redirect_uris ${inKibibytes(registrationBytes)}.`,
  }[error];
  return { status: 400, body: { error, error_description } };
}
