import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { connectionLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { headersAt } from "@/lib/http/page-headers";
import { createRequestContext, logRequest, type RequestContext } from "@/lib/http/request-context";
import {
  errorParts,
  finalizeResponse,
  type HeaderList,
  type ResponseParts,
  toResponse,
} from "@/lib/http/response";
import { apiRouteAt, isWebhookPath, redirectTrailingSlash, rejectUnrouted, routeAt } from "@/lib/http/router";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { allowedAtAll, refuseHead } from "@/lib/server/header-limits";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { pathOf, withoutAuthority } from "@/lib/server/request-target";
import { countInWork } from "@/lib/server/requests-in-work";
import { routeHandler } from "@/lib/server/routes";
import { send, toRequest } from "@/lib/server/web-adapter";
import { refuseWrongHost } from "@/lib/server/wrong-host";

type FrontServerOptions = {
  /** Handles pages and, with `throughNext`, everything else. */
  handlePage: (incoming: JoinedMessage, outgoing: ServerResponse) => Promise<void>;
  /** Development: the API goes through Next, so that edits show without a restart. */
  throughNext: boolean;
  limits?: typeof connectionLimits;
};

/**
 * Creates the server that owns the socket. It answers no operation itself: it passes a Request to the route handler that
 * a platform would call.
 */
export function createFrontServer({ handlePage, throughNext, limits }: FrontServerOptions): Server {
  trustForwardedPeer();
  const { appUrl } = settings();

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const target = withoutAuthority(url);
    const path = pathOf(target);
    const request = toRequest(incoming, appUrl + target, outgoing);
    const { headers } = request;
    appendPeer(incoming);
    const early = answerToHead(incoming, path, headers, outgoing);
    if (early)
      return send(
        finalizeResponse(undefined, createRequestContext(method, path, headers), early),
        incoming,
        outgoing,
      );
    incoming.url = target;
    const refused =
      rejectUnrouted(method, path, headers) ??
      redirectTrailingSlash(method, path, target.slice(path.length), headers);
    if (refused) return send(refused, incoming, outgoing);
    const isOutside = apiRouteAt(path) === undefined && !isWebhookPath(path);
    if (isOutside) trackRequest(createRequestContext(method, path, headers), incoming, outgoing);
    const misdirected = isOutside ? refuseWrongHost(incoming, path) : undefined;
    if (misdirected) {
      const defaults = ["cache-control", "no-store", ...defaultHeaders(path, incoming)];
      return send(toResponse(method, misdirected, defaults), incoming, outgoing);
    }
    const handler = throughNext ? undefined : routeHandler(path, method);
    if (!handler) return handlePage(incoming, outgoing);
    const response = await handler(request);
    await send(response, incoming, outgoing, isOutside ? defaultHeaders(path, incoming) : undefined);
  }

  return createBoundedServer(answer, limits);
}

/** Answers from the head alone: a refusal, or `OPTIONS *` (RFC 9110 §9.3.7). */
function answerToHead(
  incoming: IncomingMessage,
  path: string,
  headers: Headers,
  outgoing: ServerResponse,
): ResponseParts | undefined {
  const isForAll = incoming.method === "OPTIONS" && path === "*";
  const refused = refuseHead(incoming, isForAll ? "/" : path) ?? countInWork(headers, outgoing);
  if (refused) return errorParts(refused);
  return isForAll ? { status: 204, body: null, headers: ["allow", allowedAtAll] } : undefined;
}

/** Gives the response, its log line and the page's own logs the same request id. */
function trackRequest(context: RequestContext, incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.headers["x-request-id"] = context.requestId;
  outgoing.on("finish", () => logRequest(context, outgoing.statusCode));
}

/** The headers that `middleware.ts` sets where Next answers. */
function defaultHeaders(path: string, { headers }: IncomingMessage): HeaderList {
  const isShared = routeAt(path)?.isShared;
  const requestId = isShared ? [] : ["x-request-id", String(headers["x-request-id"])];
  return [...headersAt(path), ...requestId];
}

/** Appends the peer to `X-Forwarded-For`, as a proxy does. */
function appendPeer(incoming: IncomingMessage): void {
  const sent = incoming.headers["x-forwarded-for"];
  const peer = incoming.socket.remoteAddress ?? "unknown";
  if (sent) warnOfProxy(peer);
  incoming.headers["x-forwarded-for"] = sent ? `${sent}, ${peer}` : peer;
}

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  privateAddresses.addSubnet(network, prefix);
}
privateAddresses.addAddress("::1", "ipv6");
privateAddresses.addSubnet("fc00::", 7, "ipv6");

let hasWarned = false;

/** Warns once if a private peer, so probably a proxy, forwards requests and no proxy is configured. */
function warnOfProxy(peer: string): void {
  if (hasWarned || settings().trustedProxyHops > 0) return;
  if (!privateAddresses.check(peer, isIPv6(peer) ? "ipv6" : "ipv4")) return;
  hasWarned = true;
  log().warn(
    "a private peer sends X-Forwarded-For, but TRUSTED_PROXY_HOPS is 0: all its clients share one address",
  );
}
