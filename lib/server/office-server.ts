import type { Server, ServerResponse } from "node:http";
import { readOfficeFiles } from "@/lib/office/files";
import { createOfficeHandler, headersOfOffice } from "@/lib/office/handler";
import { groupAddress } from "@/lib/rate-limit/client-address";
import { inBackground } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";
import { createBoundedServer } from "@/lib/server/bounded-server";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { pathOf } from "@/lib/server/request-target";
import { send, toRequest } from "@/lib/server/web-adapter";

const fileCaching = "private, max-age=300"; // 5 minutes: a new build is seen soon

/** Creates the server of the operators' office, on a port of its own. `url` is `OFFICE_URL`. */
export function createOfficeServer(url: string): Server {
  const handle = createOfficeHandler();
  const files = readOfficeFiles();

  async function answer(incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> {
    const startedAtMs = performance.now();
    const { method = "", url: target = "" } = incoming;
    const path = pathOf(target);
    const file = method === "GET" ? files.get(path) : undefined;
    if (file) {
      const headers = [...headersOfOffice(), "content-type", file.type];
      headers[headers.indexOf("cache-control") + 1] = fileCaching;
      outgoing.writeHead(200, headers).end(file.content);
      return;
    }
    const request = toRequest(incoming, url + (target.startsWith("/") ? target : "/"), outgoing);
    const response = await handle(request, path, groupAddress(incoming.socket.remoteAddress ?? "unknown"));
    await send(response, incoming, outgoing);
    const { status, headers } = response;
    const ms = Math.round(performance.now() - startedAtMs);
    const known = status === 404 ? "*" : path;
    log().info({ office: known, method, status, ms, requestId: headers.get("x-request-id") });
  }

  return createBoundedServer((incoming, outgoing) => inBackground(() => answer(incoming, outgoing)));
}
