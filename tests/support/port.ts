import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

// Below what systems give away by themselves, to clients and for port 0: Linux from 32768 on.
const lowest = 20_000;
const highest = 32_000;

/**
 * A port that is this process's own until it ends: nobody listens there, no other test is given it, and no
 * connection that goes out takes it, so that a service can be ended and started again on it. The UDP port of the
 * same number says that it is taken, and the system lets go of it whatever becomes of us.
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
