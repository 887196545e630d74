import type { Server } from "node:http";
import { createBackendApi } from "@/lib/backend/handler";
import { Call } from "@/lib/http/call";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { send } from "@/lib/server/exchange";
import { NodeSource } from "@/lib/server/node-source";

/** Creates the server of the backend API, on a port of its own. `url` is `BACKEND_URL`. */
export function createBackendServer(url: string): Server {
  const { site, answer } = createBackendApi(url);
  return createBoundedServer((incoming, outgoing) => {
    const call = new Call(new NodeSource(incoming, outgoing), site);
    return send(answer(call), incoming, outgoing, call.client);
  });
}
