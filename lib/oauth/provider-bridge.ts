import { inject } from "light-my-request";
import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { clearCookie, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { redirectTo, withProblem } from "@/lib/http/form";
import { boundQuery } from "@/lib/http/handed-on";
import { cookieHeaders, createHandler, type PageRequest } from "@/lib/http/page-handler";
import { connectEndpoints, pages, type Route } from "@/lib/http/pages";
import { type Answer, errorParts, type HeaderList } from "@/lib/http/response";
import { spendExchange } from "@/lib/oauth/allowance";
import { authorizationServer, networkHeader, serverCookies } from "@/lib/oauth/authorization-server";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { mayBeToldAtOnce, refusalPage } from "@/lib/oauth/refused-request";
import { accountScope } from "@/lib/oauth/resources";
import { clientNetwork } from "@/lib/rate-limit/client-address";

/**
 * The route handler of one of the authorization server's endpoints. The server knows Node's requests alone: each is
 * handed over in process, wherever a route handler runs, and always at our own address, whatever Host it named.
 */
export function connectEndpoint(route: Route): (request: Request) => Promise<Response> {
  return createHandler(route, exchange, { acceptsAnyOrigin: true, renderError });
}

/** The headers that matter to it. Others, `X-Forwarded-Host` before all, would have it name another address than ours. */
const passed = new Set([
  "accept",
  "authorization",
  "content-type",
  "origin",
  "access-control-request-headers",
  "access-control-request-method",
]);

/** What we pass on of its answers; the rest is the socket's to say, or the hall's of every answer. */
const isPassedBack = (name: string) => /^(?:location|vary|www-authenticate|access-control-.*)$/.test(name);

/** What is read of a request to be let in; all else is ignored (RFC 6749 §3.1), so that nothing of it is kept. */
const heeded = new Set([
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

async function exchange(call: PageRequest): Promise<Answer> {
  if (settings().signIn.kind === "none") throw new ApiError("not_configured");
  await spendExchange(call);
  const { url, headers, body, context } = call;
  const isAuthorization = url.pathname === connectEndpoints.authorization.path;
  // An answer in a fragment or a form of a page's would be read by that page's scripts.
  if (isAuthorization && url.searchParams.getAll("response_mode").some((mode) => mode !== "query")) {
    return refuse(headers, appProblem, "response_mode is query, or not said.");
  }
  const { host, protocol } = new URL(settings().appUrl);
  const uid = readCookie(headers, "office-request");
  const {
    statusCode,
    payload,
    headers: answered,
  } = await inject((await authorizationServer()).callback(), {
    method: context.method as "GET" | "POST" | "OPTIONS",
    // Its time grows with the square of the parameters.
    url: boundQuery(pathFor(url, uid) + searchFor(url)),
    headers: {
      ...Object.fromEntries([...headers].filter(([name]) => passed.has(name))),
      host,
      "x-forwarded-proto": protocol.slice(0, -1),
      [networkHeader]: clientNetwork(headers) ?? "",
      cookie: uid ? `${serverCookies.resume}=${uid}` : "",
    },
    payload: url.pathname === connectEndpoints.device.path ? bounded(body.toString()).toString() : body,
  });
  if (statusCode === 400 && isFromBrowser(headers)) return redirectTo({ to: appProblem });
  const { location } = answered;
  // Where it leads to a client before anybody was asked, it is with an error.
  const isError = isAuthorization && location !== undefined && location !== pages.connect.path;
  if (isError && !(await mayBeToldAtOnce(url.searchParams.getAll("client_id")))) {
    return refuse(headers, refusalPage(location), "The app asked in a way that cannot be answered.");
  }
  const { "content-type": mediaType, "set-cookie": cookies, ...others } = answered;
  return {
    status: statusCode,
    body: payload === "" ? null : payload,
    ...(typeof mediaType === "string" && { mediaType }),
    headers: [
      ...Object.entries(others).flatMap(([name, value]) =>
        value !== undefined && isPassedBack(name) ? [name, String(value)] : [],
      ),
      ...ourCookie([cookies ?? []].flat().map(String)),
    ],
  };
}

function renderError(error: ApiError, { headers }: PageRequest): Answer {
  return error.status === 413 && isFromBrowser(headers) ? redirectTo({ to: appProblem }) : errorParts(error);
}

/** Refuses a request for authorization: on a page of ours where a person looks, else in JSON. */
function refuse(headers: Headers, page: string, message: string): Answer {
  return isFromBrowser(headers)
    ? redirectTo({ to: page })
    : errorParts(new ApiError("invalid_request", { message }));
}

function isFromBrowser(headers: Headers): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}

const appProblem = withProblem(pages.connect.path, "app");

/** The server has an address of its own for each request that is answered; ours is one, and its cookie says which. */
function pathFor({ pathname }: URL, uid = ""): string {
  const { authorization, resume } = connectEndpoints;
  return pathname === resume.path ? `${authorization.path}/${uid}` : pathname;
}

/** An app that names no scope means the one there is (RFC 6749 §3.3). */
function searchFor({ pathname, search }: URL): string {
  if (pathname !== connectEndpoints.authorization.path) return search;
  const asked = bounded(search);
  if (!asked.get("scope")) asked.set("scope", accountScope);
  return `?${asked}`;
}

/** What is kept of a request until its owner answers. Throws an {@link ApiError} where that would be too much. */
function bounded(text: string): URLSearchParams {
  const kept = [...new URLSearchParams(text)].filter(([name]) => heeded.has(name));
  const besidesClient = kept.filter(([name]) => name !== "client_id");
  const { requestBytes } = oauthBounds;
  if (Buffer.byteLength(JSON.stringify(besidesClient)) > requestBytes) {
    throw new ApiError("too_large", {
      message: `The parameters of this request are larger than ${inKibibytes(requestBytes)}.`,
    });
  }
  return new URLSearchParams(kept);
}

/**
 * One cookie of ours stands for those that the server sets: it names what the browser's owner is asked. The server's
 * own session never reaches a browser, so that every approval asks anew who approves.
 */
function ourCookie(cookies: string[]): HeaderList {
  const [resume] = cookies.flatMap(
    (cookie) => new RegExp(`^${serverCookies.resume}=([^;]*)`).exec(cookie)?.[1] ?? [],
  );
  if (resume === undefined) return [];
  return cookieHeaders([
    resume === "" ? clearCookie("office-request") : writeCookie("office-request", resume, lifetimes.request),
  ]);
}
