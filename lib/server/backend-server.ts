import type { Server } from "node:http";
import { createBackendApi } from "@/lib/backend/handler";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { send } from "@/lib/server/exchange";

/** Creates the server of the backend API, on a port of its own. `url` is `BACKEND_URL`. */
export function createBackendServer(url: string): Server {
  const { site, answer } = createBackendApi(url);
  return createBoundedServer(site, (call, incoming, outgoing) => send(answer(call), incoming, outgoing));
}
