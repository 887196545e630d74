import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { clientNetwork, tokenNetwork } from "@/lib/auth/sessions/session-network";
import { mintSessionToken } from "@/lib/auth/tokens/session-token";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Call, SentHeaders } from "@/lib/http/call";
import { cookieHeaders } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { redirectTo, withProblem } from "@/lib/http/form";
import { handleEndpoint, type RouteHandler } from "@/lib/http/handler";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { errorParts, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { appSessionId } from "@/lib/oauth/app-session";
import { isPending } from "@/lib/oauth/approval";
import { bodyFor, readClientHeaders, targetFor } from "@/lib/oauth/authorization-request";
import { authorizationServer } from "@/lib/oauth/authorization-server";
import {
  findRequest,
  keepRequest,
  pageOfAnswer,
  pageOfRequest,
  settleRequest,
} from "@/lib/oauth/browser-requests";
import { consumeExchangeLimit } from "@/lib/oauth/exchange-limit";
import { describeEnd } from "@/lib/oauth/refused-refresh";
import { faults, faultUrl, mayRedirectError, type Refusal, refusalUrl } from "@/lib/oauth/refused-request";
import { narrowResource } from "@/lib/oauth/resources";
import { TokenRotation } from "@/lib/oauth/token-rotation";
import { log } from "@/lib/runtime/log";

/**
 * The route handler of an authorization server endpoint. The library only takes Node's requests, so each is handed
 * over as one. The host is always that of `APP_URL`, never the request's.
 */
export function connectEndpoint(route: Route): RouteHandler {
  return handleEndpoint(route, exchange, { explain });
}

/** The library's response headers that are returned; the rest are hop-by-hop headers, or the handler sets them. */
const returnedHeaders = ["www-authenticate"];

const maxLogged = 400; // characters of a client id

async function exchange(call: Call): Promise<ResponseParts> {
  const { url, path, query, headers, client } = call;
  const { authorization, resume, revocation, token } = connectEndpoints;
  const endsSessionAs = path === revocation.path ? "app end" : "app replay";
  const tokens = new TokenRotation(endsSessionAs, tokenNetwork(client), clientNetwork(client));
  await tokens.run(() => consumeExchangeLimit(call));
  const isAuthorization = path === authorization.path;
  const form = new URLSearchParams(call.fields);
  const sentHeaders = readClientHeaders(headers, form);
  if ([...query, ...form].flat().some((text) => text.includes("\0"))) {
    const error_description = "A parameter has a NUL character.";
    if (isForBrowsers(path)) throw new RefusedRequest(error_description);
    return { status: 400, body: { error: "invalid_request", error_description } };
  }
  // A response in a fragment or a form could be read by the scripts of the app's page.
  if (isAuthorization && query.getAll("response_mode").some((mode) => mode !== "query")) {
    throw new RefusedRequest("response_mode is query, or not said.");
  }
  const { host, protocol } = new URL(settings().appUrl);
  const uid = path === resume.path ? findRequest(headers, query.get("request")) : undefined;
  if (uid && tokens.credential && isPending(tokens.credential)) return redirectTo({ to: pageOfRequest(uid) });
  tokens.request = uid ?? "";
  const server = (await authorizationServer()).callback();
  const sent = Buffer.from(bodyFor(url, form));
  const request = {
    // The library answers a HEAD without the words that are read here.
    method: call.method === "HEAD" ? "GET" : call.method,
    url: targetFor(url, uid),
    headers: {
      ...sentHeaders,
      host,
      "x-forwarded-proto": protocol.slice(0, -1),
      cookie: uid ? `_interaction_resume=${uid}` : "",
      "content-length": String(sent.length),
    },
  };
  const { statusCode, payload, responseHeaders } = await tokens.run(() => handOver(server, request, sent));
  if (statusCode === 500) throw tokens.failure ?? new ApiError("internal_error");
  const aud = audienceOf(tokens, form);
  if (tokens.accessToken && !aud) {
    return {
      status: 400,
      body: { error: "invalid_target", error_description: "The owner approved no such resource." },
    };
  }
  // Before anything is used up.
  const minted = statusCode === 200 ? await mintAccessToken(tokens, aud) : undefined;
  const issued = statusCode === 200 ? await tokens.commit(await store(), Date.now()) : {};
  if (path === token.path && (statusCode === 400 || !issued)) {
    const ended = await describeEnd(tokens.credential, form.get("client_id"));
    const error_description = ended ?? usedBefore[tokens.used?.kind === "RefreshToken" ? "token" : "code"];
    if (ended ?? !issued) return { status: 400, body: { error: "invalid_grant", error_description } };
  }
  if (statusCode === 400 && isForBrowsers(path)) throw refuseClient(call, JSON.parse(payload) as Refusal);
  if (uid && tokens.code?.isOver) return redirectTo({ to: pageOfAnswer(uid, "app", "approved") });
  const location = responseHeaders.location && withCode(String(responseHeaders.location), tokens);
  // A redirect to a client before the owner was asked always carries an error.
  const isError = isAuthorization && location && !location.startsWith(`${pages.connect.path}?`);
  if (isError && !(await mayRedirectError(query.getAll("client_id")))) {
    throw new RefusedRequest("The app asked in a way that cannot be answered.", refusalUrl(location));
  }
  const { "content-type": mediaType, "set-cookie": cookies } = responseHeaders;
  return {
    status: statusCode,
    body: minted ? withTokens(payload, tokens, minted, issued?.successor) : payload || null,
    ...(typeof mediaType === "string" && { mediaType }),
    headers: [
      ...(location ? ["location", location] : []),
      ...returnedHeaders.flatMap((name) =>
        name in responseHeaders ? [name, String(responseHeaders[name])] : [],
      ),
      ...cookieHeaders(uid ? [settleRequest(headers, uid)] : begunIn(headers, [cookies ?? []].flat())),
    ],
  };
}

const usedBefore = {
  code: "It was used before. Ask the owner again.",
  token:
    "It was used before, and the token that replaced it too. Use the newest one, which another process of yours may have stored.",
};

/** Hands a request to the library in Node's form, and takes its answer: no connection carries either. */
function handOver(
  server: RequestListener,
  request: Pick<IncomingMessage, "method" | "url" | "headers">,
  body: Buffer,
) {
  const incoming = Object.assign(new IncomingMessage(new Socket()), request, { complete: true });
  incoming.push(body);
  incoming.push(null);
  const outgoing = new ServerResponse(incoming);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  outgoing.end = (payload?: unknown) => {
    resolve(payload);
    return outgoing;
  };
  server(incoming, outgoing);
  return promise.then((payload = "") => {
    const { statusCode } = outgoing;
    return { statusCode, payload: String(payload), responseHeaders: outgoing.getHeaders() };
  });
}

/** The resource of the access token that is issued: what the owner approved, or the part of it that the client names. */
function audienceOf({ accessToken, credential }: TokenRotation, form: URLSearchParams): string | undefined {
  const granted = [credential?.resource ?? accessToken?.aud ?? []].flat().map(String);
  return narrowResource(granted, form.getAll("resource"));
}

/** Mints the access token that is issued, if one is: a session token of the app's session, bound to a resource. */
async function mintAccessToken(
  { accessToken, sessionEndsAtMs }: TokenRotation,
  aud = "",
): Promise<string | undefined> {
  if (!accessToken) return undefined;
  const { accountId = "", grantId = "", jti = "", scope = "", clientId: client_id } = accessToken;
  const nowMs = Date.now();
  const terms = {
    subject: accountId,
    sessionId: appSessionId(grantId),
    endsAtMs: Math.min(nowMs + oauthSeconds.accessToken * 1000, sessionEndsAtMs),
    extra: { aud, jti, scope, client_id },
  };
  return (await mintSessionToken(terms, await requireSigningKey(nowMs), nowMs)).token;
}

/**
 * The library's answer with the tokens that were minted and committed, which are not those that the library made, and the
 * seconds until their session ends.
 */
function withTokens(
  payload: string,
  { sessionEndsAtMs }: TokenRotation,
  access_token: string,
  successor: string | undefined,
): string {
  const { refresh_token = successor, ...answer } = JSON.parse(payload);
  const refresh_token_expires_in = Math.floor((sessionEndsAtMs - Date.now()) / 1000);
  return JSON.stringify({
    ...answer,
    access_token,
    ...(refresh_token && { refresh_token: successor ?? refresh_token, refresh_token_expires_in }),
  });
}

/** A request whose error cannot be redirected to its app: a browser is shown one of our pages, other clients get JSON. */
class RefusedRequest extends ApiError {
  constructor(
    message: string,
    readonly page = appProblem,
  ) {
    super("invalid_request", { message });
  }
}

function explain(error: ApiError, { headers }: Call): ResponseParts {
  // Whatever failed here has used nothing up, so the client can send its request again.
  if (error.code === "internal_error") return errorParts(new ApiError("unavailable"));
  if (!headers.get("accept")?.includes("text/html")) return errorParts(error);
  if (error instanceof RefusedRequest) return redirectTo({ to: error.page });
  return error.status === 413 ? redirectTo({ to: appProblem }) : errorParts(error);
}

function refuseClient({ query, requestId }: Call, { fault, reason }: Refusal): RefusedRequest {
  const client = query.get("client_id") ?? "";
  log().info({ requestId, client: client.slice(0, maxLogged), reason }, `refused: ${faults[fault]}`);
  // The reasons of the other faults can contain what this server's network says.
  const message = fault === "app" ? `${reason}.` : `Refused: ${faults[fault]}.`;
  return new RefusedRequest(message, faultUrl(fault, client));
}

/** Whether an endpoint is opened in a browser. Its errors are ours, those of the others the library's (RFC 6749 §5.2). */
function isForBrowsers(path: string): boolean {
  return path === connectEndpoints.authorization.path || path === connectEndpoints.resume.path;
}

const appProblem = withProblem(pages.connect.path, "app");

/**
 * Replaces the library's cookies by ours that names the requests. The library's session cookie never reaches a browser, so
 * every approval checks again who is signed in.
 */
function begunIn(headers: SentHeaders, cookies: readonly (string | number)[]): string[] {
  const [, uid] = /^_interaction_resume=([^;]+)/m.exec(cookies.join("\n")) ?? [];
  return uid ? [keepRequest(headers, uid)] : [];
}

/** The redirect to an app with the code that is stored, which is not the one that the library made. */
function withCode(location: string, { code }: TokenRotation): string {
  return code ? location.replace(`code=${code.made}`, `code=${code.sent}`) : location;
}
