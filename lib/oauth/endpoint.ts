import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { clearCookie, cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler, type HandlerRequest, type RouteHandler } from "@/lib/http/handler";
import { connectEndpoints, pages } from "@/lib/http/pages";
import { errorParts, type HeaderList, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { withStore } from "@/lib/oauth/adapter";
import { consumeExchangeLimit } from "@/lib/oauth/allowance";
import { authorizationServer, networkHeader, serverCookies } from "@/lib/oauth/authorization-server";
import { describeRefusedRefresh } from "@/lib/oauth/refused-refresh";
import { faults, faultUrl, mayRedirectError, type Refusal, refusalUrl } from "@/lib/oauth/refused-request";
import { accountScope } from "@/lib/oauth/resources";
import { lifetimes } from "@/lib/oauth/token-lifetimes";
import { TokenRotation } from "@/lib/oauth/token-rotation";
import { clientNetwork } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";

/**
 * The route handler of an authorization server endpoint. The library only takes Node's requests, so each is handed
 * over as one. The host is always that of `APP_URL`, never the request's.
 */
export function connectEndpoint(route: Route): RouteHandler {
  return createHandler(route, exchange, { renderError });
}

/** The headers that the library gets. Others, mainly `X-Forwarded-Host`, could make it use another address than ours. */
const forwardedHeaders = new Set(["accept", "authorization", "content-type"]);

/** The library's response headers that are returned; the rest are hop-by-hop headers, or the handler sets them. */
const isReturnedHeader = (name: string) => /^(?:location|www-authenticate)$/.test(name);

/** The parameters of an authorization request that are read. Others are ignored (RFC 6749 §3.1) and not stored. */
const knownParameters = new Set([
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "prompt",
  "code_challenge",
  "code_challenge_method",
  "resource",
]);

const maxLogged = 400; // characters of a client id

async function exchange(call: HandlerRequest): Promise<ResponseParts> {
  if (settings().signIn.kind === "none") throw new ApiError("not_configured");
  const { url, headers, body, context } = call;
  const { authorization, device, revocation, token } = connectEndpoints;
  const tokens = new TokenRotation(url.pathname === revocation.path ? "app end" : "app replay");
  await tokens.run(() => consumeExchangeLimit(call));
  const isAuthorization = url.pathname === authorization.path;
  const form = new URLSearchParams(body.toString());
  if ([...url.searchParams, ...form].flat().some((text) => text.includes("\0"))) {
    const error_description = "A parameter has a NUL character.";
    return isForBrowsers(url)
      ? refuse(headers, appProblem, error_description)
      : { status: 400, body: { error: "invalid_request", error_description } };
  }
  // A response in a fragment or a form could be read by the scripts of the app's page.
  if (isAuthorization && url.searchParams.getAll("response_mode").some((mode) => mode !== "query")) {
    return refuse(headers, appProblem, "response_mode is query, or not said.");
  }
  const { host, protocol } = new URL(settings().appUrl);
  const uid = readCookie(headers, "office-request");
  const server = (await authorizationServer()).callback();
  const sent = url.pathname === device.path ? Buffer.from(`${keepKnownParameters(body.toString())}`) : body;
  const request = {
    method: context.method,
    url: limitQuery(pathFor(url, uid) + searchFor(url)),
    headers: {
      ...Object.fromEntries([...headers].filter(([name]) => forwardedHeaders.has(name))),
      host,
      "x-forwarded-proto": protocol.slice(0, -1),
      [networkHeader]: clientNetwork(headers) ?? "",
      cookie: uid ? `${serverCookies.resume}=${uid}` : "",
      "content-length": String(sent.length),
    },
  };
  const { statusCode, payload, responseHeaders } = await tokens.run(() => handOver(server, request, sent));
  if (statusCode === 500)
    throw tokens.failure instanceof ApiError ? tokens.failure : new ApiError("internal_error");
  const issued = statusCode === 200 ? await withStore((db) => tokens.commit(db, Date.now())) : {};
  if (statusCode === 400 || !issued) {
    const describe = (db: Db) => describeRefusedRefresh(db, form, Date.now());
    const ended = url.pathname === token.path ? await withStore(describe) : undefined;
    const error_description = ended ?? "It was used before. Ask the owner again.";
    if (ended ?? !issued) return { status: 400, body: { error: "invalid_grant", error_description } };
  }
  if (statusCode === 400 && isForBrowsers(url)) return refuseClient(call, JSON.parse(payload) as Refusal);
  const { location } = responseHeaders;
  // A redirect to a client before the owner was asked always carries an error.
  const isError = isAuthorization && location !== undefined && location !== pages.connect.path;
  if (isError && !(await mayRedirectError(url.searchParams.getAll("client_id")))) {
    return refuse(headers, refusalUrl(location), "The app asked in a way that cannot be answered.");
  }
  const { "content-type": mediaType, "set-cookie": cookies, ...others } = responseHeaders;
  return {
    status: statusCode,
    body: payload === "" ? null : withEnd(payload, tokens, issued.successor),
    ...(typeof mediaType === "string" && { mediaType }),
    headers: [
      ...Object.entries(others).flatMap(([name, value]) =>
        value !== undefined && isReturnedHeader(name) ? [name, String(value)] : [],
      ),
      ...requestCookie([cookies ?? []].flat().map(String)),
    ],
  };
}

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

/**
 * The library's answer with the refresh token that was committed, which is not the one that the library made, and the
 * seconds until its session ends.
 */
function withEnd(payload: string, { sessionEndsAtMs }: TokenRotation, successor: string | undefined): string {
  if (sessionEndsAtMs === 0) return payload;
  const { refresh_token = successor, ...answer } = JSON.parse(payload);
  const refresh_token_expires_in = Math.floor((sessionEndsAtMs - Date.now()) / 1000);
  return JSON.stringify({
    ...answer,
    ...(refresh_token && { refresh_token: successor ?? refresh_token, refresh_token_expires_in }),
  });
}

function renderError(error: ApiError, { headers }: HandlerRequest): ResponseParts {
  return error.status === 413 && isFromBrowser(headers) ? redirectTo({ to: appProblem }) : errorParts(error);
}

/** Refuses a request whose error cannot be redirected to its app. */
function refuseClient({ url, headers, context }: HandlerRequest, { fault, reason }: Refusal): ResponseParts {
  const client = url.searchParams.get("client_id") ?? "";
  const { requestId } = context;
  log().info({ requestId, client: client.slice(0, maxLogged), reason }, `refused: ${faults[fault]}`);
  // The reasons of the other faults can contain what this server's network says.
  const message = fault === "app" ? `${reason}.` : `Refused: ${faults[fault]}.`;
  return refuse(headers, faultUrl(fault, client), message);
}

/** Refuses an authorization request: a browser is redirected to one of our pages, other clients get JSON. */
function refuse(headers: Headers, page: string, message: string): ResponseParts {
  return isFromBrowser(headers)
    ? redirectTo({ to: page })
    : errorParts(new ApiError("invalid_request", { message }));
}

/** Whether an endpoint is opened in a browser. Its errors are ours, those of the others the library's (RFC 6749 §5.2). */
function isForBrowsers({ pathname }: URL): boolean {
  return pathname === connectEndpoints.authorization.path || pathname === connectEndpoints.resume.path;
}

function isFromBrowser(headers: Headers): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}

const appProblem = withProblem(pages.connect.path, "app");

/** Cuts a request target to the maximum number of query parameters. */
export function limitQuery(target: string): string {
  const [path = "", ...query] = target.split("?");
  if (query.length === 0) return target;
  return `${path}?${query.join("?").split("&", oauthBounds.parameters).join("&")}`;
}

/** The library resumes each request at its own path. We have one path, and the cookie names the request. */
function pathFor({ pathname }: URL, uid = ""): string {
  const { authorization, resume } = connectEndpoints;
  return pathname === resume.path ? `${authorization.path}/${uid}` : pathname;
}

/** Adds the only scope if an app names none, and ignores `openid`, which OpenID libraries add (RFC 6749 §3.3). */
function searchFor({ pathname, search }: URL): string {
  if (pathname !== connectEndpoints.authorization.path) return search;
  const parameters = keepKnownParameters(search);
  // Copilot CLI sends it. The library does not know it, and our page always names the account that answers.
  parameters.delete("prompt", "select_account");
  const scopes = (parameters.get("scope") ?? "").split(" ").filter((scope) => scope && scope !== "openid");
  parameters.set("scope", scopes.join(" ") || accountScope);
  return `?${parameters}`;
}

/** Keeps the parameters that are stored until the owner answers. Throws an {@link ApiError} if they are too large. */
function keepKnownParameters(text: string): URLSearchParams {
  const known = [...new URLSearchParams(text)].filter(([name]) => knownParameters.has(name));
  const withoutClient = known.filter(([name]) => name !== "client_id");
  const { requestBytes } = oauthBounds;
  if (Buffer.byteLength(JSON.stringify(withoutClient)) > requestBytes) {
    throw new ApiError("too_large", {
      message: `The parameters of this request are larger than ${inKibibytes(requestBytes)}.`,
    });
  }
  return new URLSearchParams(known);
}

/**
 * Replaces the library's cookies by one of ours that names the request. The library's session cookie never reaches a
 * browser, so every approval checks again who is signed in.
 */
function requestCookie(cookies: string[]): HeaderList {
  const [resume] = cookies.flatMap(
    (cookie) => new RegExp(`^${serverCookies.resume}=([^;]*)`).exec(cookie)?.[1] ?? [],
  );
  if (resume === undefined) return [];
  return cookieHeaders([
    resume === "" ? clearCookie("office-request") : writeCookie("office-request", resume, lifetimes.request),
  ]);
}
