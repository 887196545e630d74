import { inject } from "light-my-request";
import { clientKey } from "@/lib/api/client-address";
import { dropCookie, readCookie, writeCookie } from "@/lib/api/cookies";
import { ApiError } from "@/lib/api/errors";
import { type Answer, type HeaderList, refusal } from "@/lib/api/headers";
import { connectEndpoints, type Place, pages } from "@/lib/api/pages";
import { counter } from "@/lib/api/rate-limit";
import { authorizationServer, serverCookies } from "@/lib/connect/authorization-server";
import { lifetimes } from "@/lib/connect/lifetimes";
import { accountScope } from "@/lib/connect/resources";
import { goTo, withProblem } from "@/lib/pages/form";
import { type Call, cookieHeaders, hall } from "@/lib/pages/hall";
import { settings } from "@/lib/settings/settings";

/**
 * The route handler of one of the authorization server's endpoints. The server knows Node's requests alone: each is
 * handed over in process, wherever a route handler runs, and always at our own address, whatever Host it named.
 */
export function connectEndpoint(place: Place): (request: Request) => Promise<Response> {
  return hall(place, exchange, { fromAnywhere: true, say: (error) => refusal(error) });
}

/** The headers that matter to it. Others, `X-Forwarded-Host` before all, would have it name another address than ours. */
const passed = new Set([
  ...["accept", "authorization", "content-type", "origin"],
  ...["access-control-request-headers", "access-control-request-method"],
]);

/** What is the socket's to say, and there is none in between; and what the hall says of every answer of its. */
const saidElsewhere = new Set(["connection", "date", "keep-alive", "transfer-encoding", "cache-control"]);

/** What one client address may ask in ten minutes: whoever asks has us keep something until it runs out. */
const mostAsked = 300;
const windowSeconds = 10 * 60; // 10 minutes

async function exchange({ url, headers, body, visit }: Call): Promise<Answer> {
  if (settings().signIn.kind === "none") throw new ApiError("not_configured");
  const { allowed, retryAfterSeconds = windowSeconds } = await counter("connect", mostAsked, {
    windowSeconds,
  }).spend(clientKey(headers), performance.now());
  if (!allowed) {
    throw new ApiError("unavailable", { status: 429, headers: { "retry-after": String(retryAfterSeconds) } });
  }
  const { host, protocol } = new URL(settings().appUrl);
  const uid = readCookie(headers, "office-request");
  const {
    statusCode,
    payload,
    headers: answered,
  } = await inject((await authorizationServer()).callback(), {
    method: visit.method as "GET" | "POST" | "OPTIONS",
    url: pathFor(url, uid) + searchFor(url),
    headers: {
      ...Object.fromEntries([...headers].filter(([name]) => passed.has(name))),
      ...{
        host,
        "x-forwarded-proto": protocol.slice(0, -1),
        cookie: uid ? `${serverCookies.resume}=${uid}` : "",
      },
    },
    payload: body,
  });
  if (statusCode === 400 && headers.get("accept")?.includes("text/html")) {
    return goTo({ to: withProblem(pages.connect.path, "app") });
  }
  const { "content-type": mediaType, "content-length": _, "set-cookie": cookies, ...others } = answered;
  return {
    status: statusCode,
    body: payload === "" ? null : payload,
    ...(typeof mediaType === "string" && { mediaType }),
    headers: [
      ...Object.entries(others).flatMap(([name, value]) =>
        value === undefined || saidElsewhere.has(name) ? [] : [name, String(value)],
      ),
      ...ourCookie([cookies ?? []].flat().map(String)),
    ],
  };
}

/** The server has an address of its own for each request that is answered; ours is one, and its cookie says which. */
function pathFor({ pathname }: URL, uid = ""): string {
  const { authorization, resume } = connectEndpoints;
  return pathname === resume.path ? `${authorization.path}/${uid}` : pathname;
}

/** An app that names no scope means the one there is (RFC 6749 §3.3). */
function searchFor({ pathname, search, searchParams }: URL): string {
  if (pathname !== connectEndpoints.authorization.path || searchParams.get("scope")) return search;
  const asked = new URLSearchParams(searchParams);
  asked.set("scope", accountScope);
  return `?${asked}`;
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
    resume === "" ? dropCookie("office-request") : writeCookie("office-request", resume, lifetimes.request),
  ]);
}
