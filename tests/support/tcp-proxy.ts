import { connect, createServer, type Socket } from "node:net";
import type { Meddler } from "@/tests/support/conflicts";

const asItIs: Meddler = { toServer: (bytes) => bytes, toClient: (bytes) => bytes };

/** A loopback proxy in front of a real server, which can cut or freeze its connections, or change what they carry. */
export async function startTcpProxy(targetPort: number, port: number, meddle?: () => Meddler) {
  const open = new Set<Socket>();
  let isFrozen = false;
  let toPort = targetPort;
  let lateByMs = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: toPort, host: "127.0.0.1", noDelay: true });
    const { toServer, toClient } = meddle?.() ?? asItIs;
    for (const [from, to, change] of [
      [near, far, toServer],
      [far, near, toClient],
    ] as const) {
      open.add(from);
      from.on("data", (chunk) => {
        const changed = change(chunk);
        if (lateByMs === 0) to.write(changed);
        else setTimeout(() => to.destroyed || to.write(changed), lateByMs);
      });
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        if (lateByMs === 0) to.destroy();
        else setTimeout(() => to.end(), lateByMs);
      });
      if (isFrozen) from.pause();
    }
  });
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen();
  return {
    /** Keeps every connection open and delivers nothing. */
    freeze() {
      isFrozen = true;
      for (const socket of open) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of open) socket.resume();
    },
    /** Closes every connection and accepts no new ones. */
    async cut() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
    mend: listen,
    /** Delivers everything this much later, and a close too. */
    slow(ms: number) {
      lateByMs = ms;
    },
    /** Leads new connections to another server; those that are open stay. */
    pointTo(port: number) {
      toPort = port;
    },
  };
}
