import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { challenge, type Refused } from "@/lib/auth/tokens/credential";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import type { ResponseParts } from "@/lib/http/response";
import type { Message } from "@/lib/mcp/params";
import { resultOf, type SimpleCall, toMessage } from "@/lib/mcp/tool-call";
import { tools } from "@/lib/mcp/tools";
import { authorizationHint } from "@/lib/oauth/server-metadata";

/** Who sends a message that needs no token. */
export const anonymousCaller: Caller = { is: "signed-out", tokenWasSent: false };

/** Whether a message needs a token at any path. Others are not refused, because a client starts its sign-in on a 401. */
export function needsAccount(message: unknown): boolean {
  const { method, params } = (message ?? {}) as Message;
  return (
    method === "tools/call" && tools.some(({ name, needsSession }) => needsSession && name === params?.name)
  );
}

export const identifyBearer = (call: Call) => identifyCaller(call, "mcp");

/**
 * A 401 with the authorization metadata (RFC 9728), at which clients start their sign-in. The answer to a tool call is
 * also a result, at which ChatGPT asks its user to sign in: developers.openai.com/apps-sdk/build/auth. Throws the 401 for
 * any other message.
 */
export function refuseSignedOut(refused: Refused, path: string, call: SimpleCall | undefined): ResponseParts {
  const hint = authorizationHint(path);
  const headers = challenge(refused, hint);
  const error = new ApiError("signed_out", { headers });
  if (!call) throw error;
  // ChatGPT needs both parameters, whether or not a token was sent.
  const told = challenge({ ...refused, tokenWasSent: true }, { error_description: error.message, ...hint });
  const _meta = { "mcp/www_authenticate": [told["www-authenticate"]] };
  const body = toMessage(call, { ...resultOf(error.toJSON(), false), isError: true, _meta });
  return { status: error.status, body, headers: Object.entries(headers).flat() };
}
