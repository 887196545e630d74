import { readFileSync } from "node:fs";
import type { Server, ServerResponse } from "node:http";
import { defaultHeaders } from "@/lib/http/default-headers";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { officeFiles } from "@/lib/office/files";
import { createOfficeHandler, nothingHere } from "@/lib/office/handler";
import { inBackground } from "@/lib/runtime/background-loop";
import { createBoundedServer } from "@/lib/server/bounded-server";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { pathOf } from "@/lib/server/request-target";
import { ask, send } from "@/lib/server/web-adapter";

const fileCaching = "private, max-age=300"; // 5 minutes: a new build is seen soon

/** Creates the server of the operators' office, on a port of its own. `url` is `OFFICE_URL`. */
export function createOfficeServer(url: string): Server {
  const handle = createOfficeHandler();
  const files = new Map(
    Object.values(officeFiles).map(({ path, file, type }) => [
      path as string,
      { type, content: readFileSync(file) },
    ]),
  );

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url: target = "" } = incoming;
    const path = pathOf(target);
    const file = method === "GET" ? files.get(path) : undefined;
    if (file) {
      const headers = ["content-type", file.type, "cache-control", fileCaching];
      outgoing.writeHead(200, [...defaultHeaders(nothingHere), ...headers]).end(file.content);
      return;
    }
    const request = new IncomingRequest(incoming, url + (target.startsWith("/") ? target : "/"), outgoing);
    // The peer alone counts: what a client says of proxies buys no allowance.
    incoming.headers["x-forwarded-for"] = incoming.socket.remoteAddress;
    send(await ask((asked) => handle(asked, path), request), incoming, outgoing);
  }

  return createBoundedServer((incoming, outgoing) => inBackground(() => answer(incoming, outgoing)));
}
