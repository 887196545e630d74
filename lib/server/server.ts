import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { handlerAt } from "@/app/routes";
import type { connectionLimits } from "@/lib/config/limits";
import { privateNetworks } from "@/lib/config/networks";
import { settings } from "@/lib/config/settings";
import { IncomingRequest, OwnRequest } from "@/lib/http/incoming-request";
import { rejectUnrouted } from "@/lib/http/not-found";
import { pages } from "@/lib/http/register/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { logRequest } from "@/lib/http/request-log";
import { finalizeResponse, type ResponseParts } from "@/lib/http/response";
import { redirectTrailingSlash, refuse, routeAt } from "@/lib/http/router";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { compressOnce } from "@/lib/server/compression";
import { allowedAtAll, refuseHead } from "@/lib/server/header-limits";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { PageCache } from "@/lib/server/page-cache";
import { pathOf, withoutAuthority } from "@/lib/server/request-target";
import { countInWork } from "@/lib/server/requests-in-work";
import { ask, hasBody, leaveUnread, send } from "@/lib/server/web-adapter";
import { refuseWrongHost } from "@/lib/server/wrong-host";

type FrontServerOptions = {
  /** Development: Next handles everything, so that edits show without a restart. */
  throughNext?: ((incoming: JoinedMessage, outgoing: ServerResponse) => Promise<void>) | undefined;
  limits?: typeof connectionLimits;
};

/** Creates the server that owns the socket. It passes requests to the route handlers that a platform would call. */
export function createFrontServer({ throughNext, limits }: FrontServerOptions = {}): Server {
  trustForwardedPeer();
  const { appUrl } = settings();
  const pageCache = new PageCache((target, headers) =>
    ask(handlerAt(pathOf(target)), new OwnRequest(appUrl + target, headers)),
  );

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const target = withoutAuthority(url);
    const path = pathOf(target);
    const request = new IncomingRequest(incoming, appUrl + target, outgoing);
    const { headers } = request;
    appendPeer(incoming);
    const isForAll = method === "OPTIONS" && path === "*"; // RFC 9110 §9.3.7
    const refused =
      refuseHead(incoming, isForAll ? "/" : path) ??
      (hasBody(incoming) ? countInWork(headers, outgoing) : undefined) ??
      (isForAll ? undefined : rejectUnrouted(method, path));
    if (refused) return send(refuse(method, path, headers, refused), incoming, outgoing);
    if (isForAll) {
      const context = createRequestContext(method, path, headers);
      return send(finalizeResponse(undefined, context, methodsOfAll), incoming, outgoing);
    }
    incoming.url = target;
    const elsewhere =
      redirectTrailingSlash(method, path, target.slice(path.length), headers) ??
      refuseWrongHost(incoming, path, headers);
    if (elsewhere) return send(elsewhere, incoming, outgoing);
    if (throughNext) return throughNext(incoming, outgoing);
    const isApi = routeAt(path)?.site === "api";
    if (["GET", "HEAD"].includes(method) && !isApi) return answerReader(incoming, outgoing, request, path);
    send(await ask(handlerAt(path), request), incoming, outgoing);
  }

  /** Answers what is the same for everyone from memory, and compresses everything else. */
  async function answerReader(
    incoming: JoinedMessage,
    outgoing: ServerResponse,
    request: IncomingRequest,
    path: string,
  ): Promise<void> {
    const { method, headers } = request;
    const route = routeAt(path);
    const context = createRequestContext(method, path, headers);
    leaveUnread(incoming, outgoing);
    const kept = await pageCache.find(path, incoming.url?.split("?", 2)[1] ?? "", headers);
    if (kept) {
      const requestId = route?.isShared ? [] : ["x-request-id", context.requestId];
      return logRequest(context, await kept.send(incoming, outgoing, requestId));
    }
    const answer = await ask(handlerAt(route?.path ?? pages.nothingHere.path), request);
    send(await compressOnce(answer, incoming.headers["accept-encoding"]), incoming, outgoing);
  }

  return createBoundedServer(answer, limits);
}

const methodsOfAll: ResponseParts = { status: 204, body: null, headers: ["allow", allowedAtAll] };

function appendPeer(incoming: IncomingMessage): void {
  const sent = incoming.headers["x-forwarded-for"];
  const peer = incoming.socket.remoteAddress ?? "unknown";
  if (sent) warnOfProxy(peer);
  incoming.headers["x-forwarded-for"] = sent ? `${sent}, ${peer}` : peer;
}

let hasWarned = false;

/** Warns once if a private peer, so probably a proxy, forwards requests and no proxy is configured. */
function warnOfProxy(peer: string): void {
  if (hasWarned || settings().trustedProxyHops > 0) return;
  if (!privateNetworks.has(peer)) return;
  hasWarned = true;
  log().warn(
    "a private peer sends X-Forwarded-For, but TRUSTED_PROXY_HOPS is 0: all its clients share one address",
  );
}
