import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, expect, it } from "vitest";
import { publicSite } from "@/lib/http/router";
import { createBoundedServer } from "@/lib/server/bounded-server";

const server = createBoundedServer(publicSite, async (_call, _incoming, outgoing) => {
  answered++;
  const doneAtMs = performance.now() + 2;
  while (performance.now() < doneAtMs);
  outgoing.end();
});
let answered = 0;
await once(server.listen(0, "127.0.0.1"), "listening");
const { port } = server.address() as AddressInfo;
afterAll(() => server.closeAllConnections());

/** Sends a request, and with `again` the next one as soon as it is answered. */
async function ask({ again = false } = {}): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  const send = () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  if (again) socket.on("data", send);
  send();
  await once(socket, "data");
  return socket;
}

it("new connections are accepted while a hundred clients keep the server busy", async () => {
  const busy = await Promise.all(Array.from({ length: 100 }, () => ask({ again: true })));
  const before = answered;
  const newcomers = await Promise.all(Array.from({ length: 20 }, () => ask()));
  expect(answered - before).toBeLessThan(600);
  for (const socket of [...busy, ...newcomers]) socket.destroy();
});
