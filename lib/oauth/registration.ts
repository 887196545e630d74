import { oauthBounds } from "@/lib/config/limits";
import { handleOperation } from "@/lib/http/handler";
import { parseJson } from "@/lib/http/json";
import { connectEndpoints } from "@/lib/http/register/oauth";
import type { ResponseParts } from "@/lib/http/response";
import { clientDefaults, deviceGrant, readClientName, withoutRedirect } from "@/lib/oauth/clients";
import { findRedirectFault, withoutAnyPort } from "@/lib/oauth/redirect-uri";
import { issueClient } from "@/lib/oauth/registered-clients";

const { registrationBytes } = oauthBounds;
const maxUris = 10;
const maxUriCharacters = 400;

/**
 * The route handler of dynamic client registration (RFC 7591), unless the operator has disabled it. The client is public
 * like every client, its name is unverified, and it costs no row until an owner approves it. What we cannot use
 * of its metadata is left out or replaced by our defaults, which the response shows (§3.2.1): a client sends the
 * addresses of all its platforms, and one that is refused for one of them cannot be connected at all.
 */
export const register = handleOperation(connectEndpoints.registration, {}, ({ body, nowMs }) => {
  const sent = parseJson(body);
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return refuse("invalid_client_metadata", "The body is not a JSON object.");
  }
  const {
    client_name,
    redirect_uris,
    grant_types,
    dpop_bound_access_tokens,
  }: Partial<Record<string, unknown>> = sent;
  const asked = [redirect_uris ?? []].flat().map(withoutAnyPort);
  const allowed = asked.filter((uri) => !findFault(uri)).map(String);
  const application = {
    client_name: readClientName(client_name),
    redirect_uris: [...new Set(allowed)].slice(0, maxUris),
    ...(dpop_bound_access_tokens === true && { dpop_bound_access_tokens }),
  };
  while (Buffer.byteLength(JSON.stringify(application)) > registrationBytes) application.redirect_uris.pop();
  const asksByDevice = [grant_types].flat().includes(deviceGrant);
  const isDevice = asked.length === 0 && asksByDevice;
  if (application.redirect_uris.length === 0 && !isDevice) {
    const fault = asked.length === 0 ? "is missing" : (findFault(asked[0]) ?? "is too long");
    return refuse(
      "invalid_redirect_uri",
      `No redirect URI can be used: the first of redirect_uris ${fault}.`,
    );
  }
  const defaults = isDevice ? { ...clientDefaults, ...withoutRedirect } : clientDefaults;
  // Programs with Python's MCP SDK before 1.18 take no answer with this grant, for which they do not ask.
  const granted = defaults.grant_types.filter((grant) => grant !== deviceGrant || asksByDevice);
  return { status: 201, body: { ...defaults, grant_types: granted, ...issueClient(application, nowMs) } };
});

function findFault(uri: unknown): string | undefined {
  if (typeof uri !== "string") return "is not a string";
  return uri.length > maxUriCharacters
    ? `has more than ${maxUriCharacters} characters`
    : findRedirectFault(uri);
}

/** An error response (RFC 7591 §3.2.2). */
function refuse(
  error: "invalid_redirect_uri" | "invalid_client_metadata",
  error_description: string,
): ResponseParts {
  return { status: 400, body: { error, error_description } };
}
