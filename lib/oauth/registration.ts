import * as z from "zod";
import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { parseJson } from "@/lib/http/json";
import { createHandler, type PageRequest } from "@/lib/http/page-handler";
import type { Route } from "@/lib/http/pages";
import { type Answer, errorParts } from "@/lib/http/response";
import { consumeRequestLimit } from "@/lib/oauth/allowance";
import { readableName } from "@/lib/oauth/client-name";
import { clientDefaults, unnamedClient } from "@/lib/oauth/clients";
import { isAllowedRedirectUri } from "@/lib/oauth/operator-clients";
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
 * The route handler of dynamic client registration (RFC 7591), if the operator has enabled it. The client is public like
 * every client, its name is unverified, and it expires after a day unless an owner approves it.
 */
export function register(route: Route): (request: Request) => Promise<Response> {
  return createHandler(route, answer, {
    acceptsAnyOrigin: true,
    renderError: (error) => anyOrigin(errorParts(error)),
  });
}

async function answer({ context, headers, body, nowMs }: PageRequest): Promise<Answer> {
  if (context.method === "OPTIONS") return anyOrigin({ status: 204, body: null });
  await consumeRequestLimit(headers);
  const requested = application.safeParse(parseJson(body));
  if (!requested.success) {
    const isRedirectUri = requested.error.issues.some(({ path }) => path[0] === "redirect_uris");
    return refuse(isRedirectUri ? "invalid_redirect_uri" : "invalid_client_metadata");
  }
  if (Buffer.byteLength(JSON.stringify(requested.data)) > registrationBytes) {
    return refuse("invalid_client_metadata");
  }
  return anyOrigin({ status: 201, body: { ...clientDefaults, ...issueClient(requested.data, nowMs) } });
}

/** An error response (RFC 7591 §3.2.2). */
function refuse(error: "invalid_redirect_uri" | "invalid_client_metadata"): Answer {
  const error_description = {
    invalid_redirect_uri:
      "redirect_uris takes one to ten, spelled canonically: loopback, HTTPS, or a scheme with a dot in it.",
    invalid_client_metadata: `Send a JSON object; client_name has 80 characters at most, and with redirect_uris ${inKibibytes(registrationBytes)}.`,
  }[error];
  return anyOrigin({ status: 400, body: { error, error_description } });
}

/** Allows any origin, because clients in browsers register too. They send no cookie. */
function anyOrigin(answer: Answer): Answer {
  const cors = ["access-control-allow-origin", "*", "access-control-allow-headers", "content-type"];
  return { ...answer, headers: [...(answer.headers ?? []), ...cors] };
}
