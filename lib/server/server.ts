import type { Server, ServerResponse } from "node:http";
import { handlerAt } from "@/app/routes";
import type { connectionLimits } from "@/lib/config/limits";
import { privateNetworks } from "@/lib/config/networks";
import { settings } from "@/lib/config/settings";
import { Call, sourceOf } from "@/lib/http/call";
import { pages } from "@/lib/http/register/pages";
import { logRequest } from "@/lib/http/request-log";
import { finalizeResponse, type ResponseParts } from "@/lib/http/response";
import { decide, publicSite, readMethods, refuse } from "@/lib/http/router";
import { ownSockets } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { leaveUnread, send } from "@/lib/server/answer-writer";
import { createBoundedServer } from "@/lib/server/bounded-server";
import type { CachedResponse } from "@/lib/server/cached-response";
import { compressOnce } from "@/lib/server/compression";
import { allowedAtAll, refuseHead } from "@/lib/server/header-limits";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { PageCache } from "@/lib/server/page-cache";
import { countInWork } from "@/lib/server/requests-in-work";

type FrontServerOptions = {
  /** Development: Next handles everything, so that edits show without a restart. */
  throughNext?:
    | ((incoming: JoinedMessage, outgoing: ServerResponse, call: Call) => Promise<void>)
    | undefined;
  limits?: typeof connectionLimits;
};

/** Creates the server that owns the socket. It passes requests to the route handlers that a platform would call. */
export function createFrontServer({ throughNext, limits }: FrontServerOptions = {}): Server {
  ownSockets();
  const pageCache = new PageCache(async (target, headers) => {
    const call = new Call(sourceOf("GET", target, new Headers(headers)), publicSite, true);
    return handlerOf(call)(call);
  });

  function answer(call: Call, incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> | undefined {
    warnOfProxy(call);
    const isForAll = call.method === "OPTIONS" && call.path === "*"; // RFC 9110 §9.3.7
    const refused =
      refuseHead(incoming, isForAll ? "/" : call.path) ??
      (incoming.hasBody ? countInWork(call.client, outgoing) : undefined);
    const decided = refused
      ? refuse(call, refused)
      : isForAll
        ? finalizeResponse(call, undefined, methodsOfAll)
        : decide(call);
    if (decided) return send(decided, incoming, outgoing);
    if (throughNext) return throughNext(incoming, outgoing, call);
    if (readMethods.includes(call.method) && call.route?.site !== "api")
      return answerReader(incoming, outgoing, call);
    return send(handlerOf(call)(call), incoming, outgoing);
  }

  /** Answers what is the same for everyone from memory, and compresses everything else. */
  function answerReader(
    incoming: JoinedMessage,
    outgoing: ServerResponse,
    call: Call,
  ): Promise<void> | undefined {
    leaveUnread(incoming, outgoing);
    const answerBy = (kept: CachedResponse | undefined) => {
      if (!kept) return answerAnew(incoming, outgoing, call);
      const status = kept.send(
        incoming,
        outgoing,
        call.route?.isShared ? [] : ["x-request-id", call.requestId],
      );
      if (status instanceof Promise) return status.then((sent) => logRequest(call, sent));
      logRequest(call, status);
      return undefined;
    };
    const kept = pageCache.find(call);
    return kept instanceof Promise ? kept.then(answerBy) : answerBy(kept);
  }

  async function answerAnew(incoming: JoinedMessage, outgoing: ServerResponse, call: Call): Promise<void> {
    const answer = await handlerOf(call)(call);
    return send(await compressOnce(answer, incoming.headers["accept-encoding"]), incoming, outgoing);
  }

  return createBoundedServer(publicSite, answer, limits);
}

/** The handler of a call's route, or of the page that says that there is nothing. */
const handlerOf = ({ route = pages.nothingHere }: Call) => handlerAt(route.path);

const methodsOfAll: ResponseParts = { status: 204, body: null, headers: ["allow", allowedAtAll] };

let hasWarned = false;

/** Warns once if a private peer, so probably a proxy, forwards requests and no proxy is configured. */
function warnOfProxy({ headers, peer = "" }: Call): void {
  if (hasWarned || settings().trustedProxyHops > 0 || !headers.has("x-forwarded-for")) return;
  if (!privateNetworks.has(peer)) return;
  hasWarned = true;
  log().warn(
    "a private peer sends X-Forwarded-For, but TRUSTED_PROXY_HOPS is 0: all its clients share one address",
  );
}
