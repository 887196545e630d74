import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { connectionLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { createRequestContext } from "@/lib/http/request-context";
import { errorParts, finalizeResponse, type ResponseParts } from "@/lib/http/response";
import { pageAt, redirectTrailingSlash, rejectUnknown, rejectUnrouted } from "@/lib/http/router";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { allowedAtAll, refuseHead } from "@/lib/server/header-limits";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { rendersAt } from "@/lib/server/render-page";
import { pathOf, withoutAuthority } from "@/lib/server/request-target";
import { countInWork } from "@/lib/server/requests-in-work";
import { routeHandler } from "@/lib/server/routes";
import { ask, hasBody, send } from "@/lib/server/web-adapter";
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
    const request = new IncomingRequest(incoming, appUrl + target, outgoing);
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
    const redirected = redirectTrailingSlash(method, path, target.slice(path.length), headers);
    const refused = redirected ?? (throughNext ? rejectUnrouted : rejectUnknown)(method, path, headers);
    if (refused) return send(refused, incoming, outgoing);
    const misdirected = refuseWrongHost(incoming, path);
    if (misdirected) {
      const context = createRequestContext(method, path, headers);
      return send(finalizeResponse(pageAt(path), context, misdirected), incoming, outgoing);
    }
    if (throughNext || rendersAt(method, path)) return handlePage(incoming, outgoing);
    const handler = routeHandler(path, method);
    if (!handler) throw new Error(`${path} is in a register, and no one handles it`);
    send(await ask(handler, request), incoming, outgoing);
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
  const refused =
    refuseHead(incoming, isForAll ? "/" : path) ??
    (hasBody(incoming) ? countInWork(headers, outgoing) : undefined);
  if (refused) return errorParts(refused);
  return isForAll ? { status: 204, body: null, headers: ["allow", allowedAtAll] } : undefined;
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
