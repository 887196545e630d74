import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import type { Db } from "@/lib/db/store";
import { addWebhook, listWebhooks, removeWebhook } from "@/lib/events/webhooks";

const path = "/demo";
const shown = 20;

/**
 * A receiver of webhooks on loopback, as a system of the operator's would be: it verifies what is posted, and answers a GET with
 * the last events. Returns its address. The webhook of an earlier demo, whose receiver is gone, is removed.
 */
export async function startReceiver(db: Db, nowMs: number): Promise<string> {
  const server = createServer().unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  for (const { id, url } of await listWebhooks(db))
    if (new URL(url).pathname === path) await removeWebhook(db, id, {}, nowMs);
  const added = await addWebhook(db, { url }, nowMs);
  const webhook = new Webhook("secret" in added ? added.secret : "");
  const events = new Map<string, string>();
  server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== "POST") return response.end([...events.values()].join("") || "Nothing yet.\n");
    try {
      const headers = request.headers as Record<string, string>;
      const { type, data } = webhook.verify(await text(request), headers) as { type: string; data: object };
      events.set(String(headers["webhook-id"]), `${type} ${JSON.stringify(data)}\n`);
      for (const id of [...events.keys()].slice(0, -shown)) events.delete(id);
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end("The signature is missing or wrong.\n");
    }
  });
  return url;
}
