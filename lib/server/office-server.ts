import type { Server, ServerResponse } from "node:http";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { createOfficeHandler } from "@/lib/office/handler";
import { inBackground } from "@/lib/runtime/background-loop";
import { createBoundedServer } from "@/lib/server/bounded-server";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { pathOf } from "@/lib/server/request-target";
import { ask, send } from "@/lib/server/web-adapter";

/** Creates the server of the operators' office, on a port of its own. `url` is `OFFICE_URL`. */
export function createOfficeServer(url: string): Server {
  const handle = createOfficeHandler();

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const { url: target = "" } = incoming;
    const request = new IncomingRequest(incoming, url + (target.startsWith("/") ? target : "/"), outgoing);
    // The peer alone counts: what a client says of proxies buys no allowance.
    incoming.headers["x-forwarded-for"] = incoming.socket.remoteAddress;
    send(await ask((asked) => handle(asked, pathOf(target)), request), incoming, outgoing);
  }

  return createBoundedServer((incoming, outgoing) => inBackground(() => answer(incoming, outgoing)));
}
