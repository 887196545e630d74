import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { connectionLimits, headBounds } from "@/lib/config/limits";
import { answerClientError, refuseConnect } from "@/lib/server/client-errors";
import { Connections } from "@/lib/server/connections";
import { JoinedMessage } from "@/lib/server/joined-message";
import { limitRequestDuration } from "@/lib/server/request-deadline";
import { closeInStages } from "@/lib/server/staged-close";

/**
 * Creates a server whose connections, headers and exchanges are bounded, and whose refusals reach their clients.
 *
 * @param maxPerAddress - the maximum connections per address; `undefined` if the peer is a proxy, whose address all share
 */
export function createBoundedServer(
  receive: (incoming: JoinedMessage, outgoing: ServerResponse) => void,
  maxPerAddress: number | undefined,
  limits = connectionLimits,
): Server {
  const begin = (incoming: JoinedMessage, outgoing: ServerResponse) => {
    connections.begin(incoming, outgoing);
    receive(incoming, outgoing);
  };
  // Node would refuse a missing Host or an unknown Expect without a body; we answer with an ApiError.
  const server = createServer(
    { ...limits, requireHostHeader: false, joinDuplicateHeaders: true, IncomingMessage: JoinedMessage },
    begin,
  );
  server.on("checkExpectation", begin).on("checkContinue", begin);
  // Node closes at once after the last response, and a body on its way then resets the connection.
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => closeInStages(socket);
  });
  // One more than allowed, because Node drops headers above this silently.
  server.maxHeadersCount = headBounds.lines + 1;
  const connections = new Connections(server, maxPerAddress);
  limitRequestDuration(connections);
  server.on("clientError", (error, duplex) => {
    const socket = duplex as Socket;
    answerClientError(error, socket, connections.latestAnswer(socket));
  });
  server.on("connect", ({ url = "", socket }) =>
    refuseConnect(url, socket, connections.latestAnswer(socket)),
  );
  return server;
}
