import type { AdapterPayload, KoaContextWithOIDC } from "oidc-provider";
import { verifyToken } from "@/lib/auth/tokens/verifier";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Call, SentHeaders } from "@/lib/http/call";
import { cookieHeaders } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { redirectTo, withProblem } from "@/lib/http/form";
import { handleEndpoint, type RouteHandler } from "@/lib/http/handler";
import { connectEndpoints, isTokenPath } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { errorParts, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { OAuthState } from "@/lib/oauth/adapter";
import { endAppSession, grantOfSession } from "@/lib/oauth/app-session";
import { isPending } from "@/lib/oauth/approval";
import { bodyFor, readClientHeaders, targetFor, withoutEmpty } from "@/lib/oauth/authorization-request";
import { authorizationServer } from "@/lib/oauth/authorization-server";
import {
  findRequest,
  keepRequest,
  pageOfAnswer,
  pageOfRequest,
  settleRequest,
} from "@/lib/oauth/browser-requests";
import { askLibrary, type Exchange } from "@/lib/oauth/exchange";
import { consumeExchangeLimit } from "@/lib/oauth/exchange-limit";
import { faults, faultUrl, mayRedirectError, type Refusal, refusalUrl } from "@/lib/oauth/refused-request";
import { issueTokens, render } from "@/lib/oauth/token-answer";
import { log } from "@/lib/runtime/log";

/**
 * The route handler of an authorization server endpoint. The library only takes Node's requests, so each is handed
 * over as one. The host is always that of `APP_URL`, never the request's.
 */
export function connectEndpoint(route: Route): RouteHandler {
  return handleEndpoint(route, { explain }, exchange);
}

const maxLogged = 400; // characters of a client id

/** A request is refused if it is malformed, counted, put to the library, issued what that allows, and answered. */
async function exchange(call: Call): Promise<ResponseParts> {
  const { path, query, headers, client } = call;
  const { authorization, device, resume, revocation } = connectEndpoints;
  const form = withoutEmpty(call.fields);
  const clientHeaders = readClientHeaders(headers, form);
  const malformed = findMalformed(call, form);
  if (malformed) throw new RefusedRequest(malformed);
  const uid = path === resume.path ? findRequest(headers, query.get("request")) : undefined;
  const { credential, session, grant } = await consumeExchangeLimit(call, form, uid);
  if (uid && credential && isPending(credential)) return redirectTo({ to: pageOfRequest(uid) });
  addKnown(form, credential);
  const asked: Exchange = {
    credential,
    session,
    grant,
    redirectUri: path === authorization.path ? (query.get("redirect_uri") ?? undefined) : undefined,
    uid,
    endsSessionAs: path === revocation.path ? "app end" : "app replay",
    client,
  };
  const answer = await askLibrary(
    await authorizationServer(),
    asked,
    requestFor(call, clientHeaders, form, uid),
  );
  if (answer.status === 500) throw asked.failure ?? new ApiError("internal_error");
  if (isForBrowsers(path)) return sendBrowserOn(call, asked, answer);
  const isRevocation = path === revocation.path;
  if (isRevocation && (answer.status === 200 || (await isAccessTokenRevoked(call, form, answer))))
    return revoked;
  if (isTokenPath(path)) return issueTokens(call, form, asked, answer);
  const isCode = path === device.path && answer.status === 200;
  return render(answer, isCode ? { ...Object(answer.body), interval: pollSeconds } : answer.body);
}

const grants = new OAuthState("Grant");

/** Adds what clients leave out of a request whose code or token says it. */
function addKnown(form: URLSearchParams, { kind, clientId, redirectUri }: AdapterPayload = {}): void {
  // anthropics/claude-code#53021 with a refresh token, openid/AppAuth-iOS#864 with a device code.
  if ((kind === "RefreshToken" || kind === "DeviceCode") && !form.has("client_id"))
    form.set("client_id", String(clientId));
  // OAuth 2.1 has it no more, because PKCE binds a code to its request (draft-ietf-oauth-v2-1 §10.2).
  if (kind === "AuthorizationCode" && !form.has("redirect_uri"))
    form.set("redirect_uri", String(redirectUri));
}

/** Nothing that is said here counts (RFC 7009 §2.2), but some libraries take no answer that is not JSON (lelylan/simple-oauth2#350). */
const revoked: ResponseParts = { status: 200, body: {} };

/**
 * Whether the library has left an access token to us (RFC 7009 §2.1), and it is of no use any more. It is valid as long as the
 * session of its app, so that ends. Some apps revoke it first, and nothing else once they are refused.
 */
async function isAccessTokenRevoked(
  { nowMs }: Call,
  form: URLSearchParams,
  { body }: KoaContextWithOIDC,
): Promise<boolean> {
  if (Object(body).error !== "unsupported_token_type") return false;
  const token = form.get("token") ?? "";
  const verified = await verifyToken(token, nowMs);
  if (!verified) return true;
  const grantId = grantOfSession(verified.sessionId);
  const grant = await grants.find(grantId);
  // Where it is gone, so is the session. Only the token of a browser has no audience, and never had one.
  if (!grant) return verified.audience !== undefined;
  if (grant.clientId !== form.get("client_id")) return false;
  await endAppSession(await store(), grantId, "app end", nowMs);
  return true;
}

/** The default of RFC 8628 (§3.2), said all the same, because some clients do not know it. */
const pollSeconds = 5;

/** Why a request is not even put to the library. */
function findMalformed({ path, query }: Call, form: URLSearchParams): string | undefined {
  if ([...query, ...form].flat().some((text) => text.includes("\0")))
    return "A parameter has a NUL character.";
  // A response in a fragment or a form could be read by the scripts of the app's page.
  const isAuthorization = path === connectEndpoints.authorization.path;
  const modes = withoutEmpty(query).getAll("response_mode");
  if (isAuthorization && modes.some((mode) => mode !== "query"))
    return "response_mode is query, or not said.";
  return undefined;
}

/** The request as the library gets it. */
function requestFor(
  call: Call,
  clientHeaders: Record<string, string>,
  form: URLSearchParams,
  uid: string | undefined,
) {
  const { path, method } = call;
  const [scheme = "", host] = settings().appUrl.split("://");
  const body = Buffer.from(bodyFor(call, form));
  return {
    method,
    url: targetFor(call, uid),
    headers: {
      ...clientHeaders,
      // Its errors are JSON (RFC 6749 §5.2), also for programs that ask for HTML first, as Java's own client does.
      ...(!isForBrowsers(path) && { accept: "application/json" }),
      host,
      "x-forwarded-proto": scheme,
      cookie: uid ? `_interaction_resume=${uid}` : "",
      "content-length": String(body.length),
    },
    body,
  };
}

/** Sends a browser to the owner's page, or to its app with the code that is stored, which is not the one that was made. */
async function sendBrowserOn(
  call: Call,
  { uid, code, refusal = "" }: Exchange,
  answer: KoaContextWithOIDC,
): Promise<ResponseParts> {
  const { path, query, headers, requestId } = call;
  if (answer.status === 400) throw refuseClient(call, answer.body as Refusal);
  if (uid && code?.isOver) return redirectTo({ to: pageOfAnswer(uid, "app", "approved") });
  const made = answer.response.get("location");
  const location = code ? made.replace(`code=${code.made}`, `code=${code.sent}`) : made;
  // A redirect to a client before the owner was asked always carries an error.
  const isAuthorization = path === connectEndpoints.authorization.path;
  const isError = isAuthorization && location && !location.startsWith(`${pages.connect.path}?`);
  if (isError && !(await mayRedirectError(query.getAll("client_id")))) {
    log().info(
      { requestId, client: query.get("client_id")?.slice(0, maxLogged), reason: refusal },
      "refused",
    );
    const message = `The app asked in a way that cannot be answered: ${refusal}.`;
    throw new RefusedRequest(message, refusalUrl(location, refusal));
  }
  const begun = [answer.response.headers["set-cookie"] ?? []].flat();
  const cookies = uid ? [settleRequest(headers, uid)] : begunIn(headers, begun);
  if (location) answer.response.set("location", location);
  const parts = render(answer);
  return { ...parts, headers: [...(parts.headers ?? []), ...cookieHeaders(cookies)] };
}

/**
 * A request whose error cannot be redirected to its app: a browser is shown one of our pages. Others get OAuth's JSON. By that
 * programs find out, before they open a browser, that their registration has expired (open-webui/open-webui#18415).
 */
class RefusedRequest extends ApiError {
  constructor(
    message: string,
    readonly page = appProblem,
    readonly error: "invalid_request" | "invalid_client" = "invalid_request",
  ) {
    super("invalid_request", { message });
  }

  override toJSON(): object {
    return { error: this.error, error_description: this.message };
  }
}

function explain(thrown: ApiError, { headers, path, requestId }: Call): ResponseParts {
  // Whatever failed here has used nothing up, so the client can send its request again.
  const error = thrown.code === "internal_error" ? new ApiError("unavailable") : thrown;
  const answer = errorParts(error);
  if (!isForBrowsers(path)) return { ...answer, body: inWordsOfOAuth(error) };
  if (!headers.get("accept")?.includes("text/html")) return answer;
  if (error instanceof RefusedRequest) return redirectTo({ to: error.page });
  if (error.status === 413) return redirectTo({ to: appProblem });
  if (error.status < 500) return answer;
  const words = "Reload this page in a moment. If it happens again, quote reference";
  return { ...answer, body: `${error.message} ${words} ${requestId}.\n` };
}

/**
 * A refusal as programs read it (RFC 6749 §5.2). At any other shape, and at `server_error`, both official MCP clients give up what
 * they have and ask their owner anew: for a limit, and in an outage. `temporarily_unavailable` is that of §4.1.2.1.
 */
function inWordsOfOAuth({ status, message }: ApiError): object {
  const isForNow = status === 429 || status >= 500;
  return { error: isForNow ? "temporarily_unavailable" : "invalid_request", error_description: message };
}

function refuseClient({ query, requestId }: Call, { fault, reason }: Refusal): RefusedRequest {
  const client = query.get("client_id") ?? "";
  log().info({ requestId, client: client.slice(0, maxLogged), reason }, `refused: ${faults[fault]}`);
  // The reasons of the other faults can contain what this server's network says.
  const message = fault === "app" ? `${reason}.` : `Refused: ${faults[fault]}.`;
  const isOfClient = fault !== "app" && fault !== "over";
  return new RefusedRequest(
    message,
    faultUrl(fault, client),
    isOfClient ? "invalid_client" : "invalid_request",
  );
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
