import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export type Loopback = { port: number; url: string; stop: () => Promise<void> };

/** Serves HTTP on a free port of loopback, or on this one. */
export async function serve(listener: RequestListener, port = 0): Promise<Loopback> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const own = (server.address() as AddressInfo).port;
  return {
    port: own,
    url: `http://127.0.0.1:${own}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
