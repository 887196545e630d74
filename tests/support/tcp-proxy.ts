import { connect, createServer, type Socket } from "node:net";

/** A loopback proxy in front of a real server, which can cut or freeze its connections. */
export async function startTcpProxy(targetPort: number, port: number) {
  const open = new Set<Socket>();
  let isFrozen = false;
  let toPort = targetPort;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: toPort, host: "127.0.0.1", noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
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
    /** Leads new connections to another server; those that are open stay. */
    pointTo(port: number) {
      toPort = port;
    },
  };
}
