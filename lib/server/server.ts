import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { handlerAt } from "@/app/routes";
import type { connectionLimits } from "@/lib/config/limits";
import { networks } from "@/lib/config/networks";
import { settings } from "@/lib/config/settings";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { createRequestContext } from "@/lib/http/request-context";
import { type Answer, finalizeResponse } from "@/lib/http/response";
import { redirectTrailingSlash, refuse, rejectUnrouted } from "@/lib/http/router";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { allowedAtAll, refuseHead } from "@/lib/server/header-limits";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { rendersAt } from "@/lib/server/render-page";
import { pathOf, withoutAuthority } from "@/lib/server/request-target";
import { countInWork } from "@/lib/server/requests-in-work";
import { ask, hasBody, send } from "@/lib/server/web-adapter";
import { refuseWrongHost } from "@/lib/server/wrong-host";

type FrontServerOptions = {
  /** Handles pages and, with `throughNext`, everything else. */
  handlePage: (incoming: JoinedMessage, outgoing: ServerResponse, request: IncomingRequest) => Promise<void>;
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
    const early =
      answerToHead(incoming, path, headers, outgoing) ??
      redirectTrailingSlash(method, path, target.slice(path.length), headers) ??
      rejectUnrouted(method, path, headers);
    if (early) return send(early, incoming, outgoing);
    incoming.url = target;
    const misdirected = refuseWrongHost(incoming, path, headers);
    if (misdirected) return send(misdirected, incoming, outgoing);
    if (throughNext || rendersAt(method, path)) return handlePage(incoming, outgoing, request);
    send(await ask(handlerAt(path), request), incoming, outgoing);
  }

  return createBoundedServer(answer, limits);
}

/** Answers from the head alone: a refusal, or `OPTIONS *` (RFC 9110 §9.3.7). */
function answerToHead(
  incoming: IncomingMessage,
  path: string,
  headers: Headers,
  outgoing: ServerResponse,
): Answer | undefined {
  const { method = "" } = incoming;
  const isForAll = method === "OPTIONS" && path === "*";
  const refused =
    refuseHead(incoming, isForAll ? "/" : path) ??
    (hasBody(incoming) ? countInWork(headers, outgoing) : undefined);
  if (refused) return refuse(method, path, headers, refused);
  if (!isForAll) return undefined;
  const parts = { status: 204, body: null, headers: ["allow", allowedAtAll] };
  return finalizeResponse(undefined, createRequestContext(method, path, headers), parts);
}

function appendPeer(incoming: IncomingMessage): void {
  const sent = incoming.headers["x-forwarded-for"];
  const peer = incoming.socket.remoteAddress ?? "unknown";
  if (sent) warnOfProxy(peer);
  incoming.headers["x-forwarded-for"] = sent ? `${sent}, ${peer}` : peer;
}

/** RFC 6890. */
const privateNetworks = networks.parse(
  "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7",
);

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
