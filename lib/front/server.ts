import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { trustFrontServer } from "@/lib/api/client-address";
import { refuseAtDoor } from "@/lib/api/door";
import { ApiError } from "@/lib/api/errors";
import { leave, refusal } from "@/lib/api/headers";
import { send, toHeaders, toRequest } from "@/lib/front/exchange";
import { routeHandler } from "@/lib/front/routes";
import { answerUnreadable } from "@/lib/front/unreadable";
import { log } from "@/lib/log";
import { settings } from "@/lib/settings";

/** What a connection may cost us. Past a limit it gets 408 or 431 and is closed. */
const limits = {
  maxHeaderSize: 16 * 1024, // 16 KiB
  headersTimeout: 10_000, // 10 s for the headers of a request
  requestTimeout: 30_000, // 30 s for the whole of it
  keepAliveTimeout: 65_000, // 65 s, longer than the usual proxy waits
  connectionsCheckingInterval: 1000,
};

type FrontServerOptions = {
  /** Next's own handler: every page and, where `throughNext`, the operations too. */
  next: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
  /** Development: operations go through Next, so that edits show without a restart. */
  throughNext: boolean;
};

/**
 * The server that owns the socket: it knows the peer's address and sees every request as it was sent. It
 * answers no operation itself; it hands a Request to the route handler that a platform would call.
 */
export function createFrontServer({ next, throughNext }: FrontServerOptions): Server {
  trustFrontServer();
  // A request without Host is answered in our shape, not with Node's empty 400.
  const server = createServer({ ...limits, requireHostHeader: false }, async (incoming, outgoing) => {
    try {
      incoming.url = withoutAuthority(incoming.url ?? "");
      appendPeer(incoming);
      const path = incoming.url.split("?", 1)[0] ?? "";
      const method = incoming.method ?? "";
      const headers = toHeaders(incoming);
      const refused = refuseRequestLine(path, incoming, headers) ?? refuseAtDoor(path, { method, headers });
      if (refused) return await send(refused, incoming, outgoing);
      const handler = throughNext ? undefined : routeHandler(path, method);
      if (handler) {
        const request = toRequest(incoming, settings().appUrl + incoming.url, headers);
        return await send(await handler(request), incoming, outgoing);
      }
      await next(incoming, outgoing);
    } catch (failure) {
      log().error({ err: failure }, "the front server failed");
      outgoing.destroy();
    }
  });
  server.on("clientError", answerUnreadable);
  return server;
}

/** An absolute-form target (RFC 9112 §3.2.2) is served as its path: who we are is APP_URL, whatever it names. */
function withoutAuthority(target: string): string {
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (!absolute) return target;
  return absolute[1]?.startsWith("/") ? absolute[1] : `/${absolute[1]}`;
}

function refuseRequestLine(path: string, incoming: IncomingMessage, headers: Headers): Response | undefined {
  const hasHost = incoming.httpVersion === "1.0" || headers.has("host");
  if (hasHost && path.startsWith("/")) return undefined;
  const message = hasHost ? "The request target is not a path." : "The request has no Host header.";
  const asked = { method: incoming.method ?? "", headers };
  return leave(undefined, asked, refusal(new ApiError("invalid_request", { message })));
}

/** What a proxy does: the peer goes to the right of whatever the client wrote there. */
function appendPeer(incoming: IncomingMessage): void {
  const sent = incoming.headers["x-forwarded-for"];
  const peer = incoming.socket.remoteAddress ?? "unknown";
  incoming.headers["x-forwarded-for"] = sent ? `${sent}, ${peer}` : peer;
}
