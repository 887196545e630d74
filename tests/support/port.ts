import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

// Below the ephemeral ports that systems assign to clients and for port 0: on Linux from 32768.
const lowest = 20_000;
const highest = 32_000;

/** Has a server of a test listen on loopback while the process runs anyway. Returns its port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1").unref(), "listening");
  return (server.address() as AddressInfo).port;
}

/**
 * Reserves a port for this process until it ends: no one listens on it, no other test gets it, and no outgoing
 * connection uses it, so that a service can be stopped and restarted on it. The lock is the UDP port of the same
 * number, which the system releases however this process ends.
 */
export async function reservePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(lowest, highest);
    if ((await isReserved(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no port from ${lowest} to ${highest} is free`);
}

function isReserved(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => resolve(false));
    socket.bind(port, "127.0.0.1", () => {
      socket.unref();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
