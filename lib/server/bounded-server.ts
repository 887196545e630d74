import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { connectionLimits, headBounds } from "@/lib/config/limits";
import { Call, type Site } from "@/lib/http/call";
import { addressOf, isKnown } from "@/lib/http/request-log";
import { inRound } from "@/lib/http/rounds";
import { log } from "@/lib/runtime/log";
import { type Tracing, tracing } from "@/lib/runtime/tracing";
import { answerClientError, refuseUpgrade } from "@/lib/server/client-errors";
import { Connections } from "@/lib/server/connections";
import { JoinedMessage } from "@/lib/server/joined-message";
import { NodeSource } from "@/lib/server/node-source";
import { inOrder } from "@/lib/server/pipeline";
import { keepForStranger, keptForProxyMs } from "@/lib/server/proxy-connection";
import { closeInStages } from "@/lib/server/staged-close";

/** Creates the server of a site, whose connections, headers and exchanges are bounded, and whose refusals reach their clients. */
export function createBoundedServer(
  site: Site,
  answer: (call: Call, incoming: JoinedMessage, outgoing: ServerResponse) => Promise<void> | undefined,
  limits = connectionLimits,
): Server {
  const proxysMs = keptForProxyMs();
  const traced = tracing();
  const begin = (incoming: JoinedMessage, outgoing: ServerResponse) => {
    connections.begin(incoming, outgoing);
    if (proxysMs) keepForStranger(incoming, outgoing, limits.keepAliveTimeout);
    const fail = (failure: unknown) => {
      log().error({ err: failure }, "the server failed");
      outgoing.destroy();
    };
    inOrder(incoming, outgoing, () => {
      const call = new Call(new NodeSource(incoming, outgoing), site);
      const work = () => answer(call, incoming, outgoing);
      try {
        inRound(call, traced ? traceRequest(traced, call, outgoing, work) : work)?.catch(fail);
      } catch (failure) {
        fail(failure);
      }
    });
  };
  // Node would refuse a missing Host or an unknown Expect without a body; we answer with an ApiError.
  const server = createServer(
    {
      ...limits,
      keepAliveTimeout: proxysMs ?? limits.keepAliveTimeout,
      requireHostHeader: false,
      joinDuplicateHeaders: true,
      IncomingMessage: JoinedMessage,
    },
    begin,
  );
  server.on("checkExpectation", begin).on("checkContinue", begin);
  // Node closes at once after the last response, and a body on its way then resets the connection.
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => closeInStages(socket);
  });
  // A client that half-closes after its request gets its answer; Node's own default is to end the connection.
  Object.assign(server, { httpAllowHalfOpen: true });
  // One more than allowed, because Node drops headers above this silently.
  server.maxHeadersCount = headBounds.lines + 1;
  const connections = new Connections(server);
  server.on("clientError", (error, duplex) => {
    const socket = duplex as Socket;
    answerClientError(error, socket, connections.latestAnswer(socket), (resumed) =>
      server.emit("connection", resumed),
    );
  });
  const refuse = (incoming: IncomingMessage) =>
    refuseUpgrade(incoming, connections.latestAnswer(incoming.socket));
  server.on("connect", refuse).on("upgrade", refuse);
  return server;
}

/** Traces a request from its arrival until its answer is sent, or its connection is lost. */
function traceRequest<T>(traced: Tracing, call: Call, outgoing: ServerResponse, work: () => T): () => T {
  const { headers, method, requestId } = call;
  const span = traced.beginRequest(
    isKnown(method) ? method : "_OTHER",
    headers.get("traceparent"),
    requestId,
  );
  call.traceId = span.traceId;
  outgoing.once("close", () => span.end(addressOf(call), outgoing.statusCode));
  return () => span.run(work);
}
