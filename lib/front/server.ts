import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BlockList, isIPv6, type Socket } from "node:net";
import { isProxyUntoldOf, trustFrontServer } from "@/lib/api/client-address";
import { addressAt, isHook, placeAt, refuseAtDoor } from "@/lib/api/door";
import { type Answer, type HeaderList, leave, refusal } from "@/lib/api/headers";
import { beginVisit, logVisit, type Visit } from "@/lib/api/visit";
import { answerClientError, refuseConnect } from "@/lib/front/client-errors";
import { Connections } from "@/lib/front/connections";
import { send, toRequest } from "@/lib/front/exchange";
import { limitExchanges } from "@/lib/front/exchange-deadline";
import { allowedAtAll, refuseHead } from "@/lib/front/head";
import { JoinedMessage } from "@/lib/front/joined-message";
import { inTurn } from "@/lib/front/pipeline";
import { routeHandler } from "@/lib/front/routes";
import { pathOf, withoutAuthority } from "@/lib/front/target";
import { headersAt } from "@/lib/pages/page-headers";
import { log } from "@/lib/process/log";
import { connectionBounds, connectionLimits, headBounds } from "@/lib/settings/limits";
import { settings } from "@/lib/settings/settings";

type FrontServerOptions = {
  /** Answers for the pages and, where `throughNext`, for everything else. */
  showPage: (incoming: JoinedMessage, outgoing: ServerResponse) => Promise<void>;
  /** Development: the API goes through Next, so that edits show without a restart. */
  throughNext: boolean;
  limits?: typeof connectionLimits;
};

/**
 * The server that owns the socket: it knows the peer's address and sees every request as it was sent. It
 * answers no operation itself; it hands a Request to the route handler that a platform would call.
 */
export function createFrontServer({
  showPage,
  throughNext,
  limits = connectionLimits,
}: FrontServerOptions): Server {
  trustFrontServer();
  const { appUrl, trustedProxyHops } = settings();

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const target = withoutAuthority(url);
    const path = pathOf(target);
    const request = toRequest(incoming, appUrl + target, outgoing);
    const { headers } = request;
    const early = answerToHead(incoming, path);
    if (early) return send(leave(undefined, beginVisit(method, path, headers), early), incoming, outgoing);
    incoming.url = target;
    appendPeer(incoming);
    const refused = refuseAtDoor(method, path, headers);
    if (refused) return send(refused, incoming, outgoing);
    const isOutside = addressAt(path) === undefined && !isHook(path);
    if (isOutside) enter(beginVisit(method, path, headers), incoming, outgoing);
    const handler = throughNext ? undefined : routeHandler(path, method);
    if (!handler) return showPage(incoming, outgoing);
    const response = await handler(request);
    await send(response, incoming, outgoing, isOutside ? stampOf(path, incoming) : undefined);
  }

  const receive = inTurn((incoming, outgoing) => {
    answer(incoming, outgoing).catch((failure) => {
      log().error({ err: failure }, "the front server failed");
      outgoing.destroy();
    });
  });

  // What Node would refuse by itself, without a body, we answer in our shape: no Host, an odd Expect.
  const server = createServer(
    { ...limits, requireHostHeader: false, joinDuplicateHeaders: true, IncomingMessage: JoinedMessage },
    receive,
  );
  server.on("checkExpectation", receive).on("checkContinue", receive);
  // One more than is allowed, so that we see the one too many: what is over, Node drops.
  server.maxHeadersCount = headBounds.lines + 1;
  const isPeerTheClient = trustedProxyHops === 0 && !isProxyUntoldOf();
  const connections = new Connections(server, isPeerTheClient ? connectionBounds.perAddress : undefined);
  limitExchanges(connections);
  server.on("clientError", (error, duplex) => {
    const socket = duplex as Socket;
    answerClientError(error, socket, connections.latestAnswer(socket));
  });
  server.on("connect", ({ url = "", socket }) =>
    refuseConnect(url, socket, connections.latestAnswer(socket)),
  );
  return server;
}

/** What is answered for the head alone: a refusal, or what there is to say of the whole server (RFC 9110 §9.3.7). */
function answerToHead(incoming: IncomingMessage, path: string): Answer | undefined {
  const isForAll = incoming.method === "OPTIONS" && path === "*";
  const refused = refuseHead(incoming, isForAll ? "/" : path);
  if (refused) return refusal(refused);
  return isForAll ? { status: 204, body: null, headers: ["allow", allowedAtAll] } : undefined;
}

/** Begins the visit of a page: its answer, its line in the log and whatever its code logs name the same id. */
function enter(visit: Visit, incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.headers["x-request-id"] = visit.requestId;
  outgoing.on("finish", () => logVisit(visit, outgoing.statusCode));
}

const noNonce = ""; // what is answered here has no script of the framework's

/** What `middleware.ts` stamps where Next answers. */
function stampOf(path: string, { headers }: IncomingMessage): HeaderList {
  const isShared = placeAt(path)?.isShared;
  const requestId = isShared ? [] : ["x-request-id", String(headers["x-request-id"])];
  return [...headersAt(path, noNonce), ...requestId];
}

/** What a proxy does: the peer goes to the right of whatever the client wrote there. */
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

/** A private peer that forwards for others is a proxy: untold of it, we take all its clients for one. */
function warnOfProxy(peer: string): void {
  if (hasWarned || settings().trustedProxyHops > 0) return;
  if (!privateAddresses.check(peer, isIPv6(peer) ? "ipv6" : "ipv4")) return;
  hasWarned = true;
  log().warn(
    "a private peer sends X-Forwarded-For while TRUSTED_PROXY_HOPS is 0: its clients share one address",
  );
}
