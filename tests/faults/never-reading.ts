import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { exchangeWithinMs } from "@/lib/config/limits";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const clients = 1000;
const asksEach = 200;

/** Clients that request more than the socket buffers hold, and never read. */
export const neverReading: Experiment = {
  name: "never-reading",
  async run(see) {
    const service = await Service.start();
    const sockets: Socket[] = [];
    let open = 0;
    for (let n = 0; n < clients; n++) {
      const localAddress = `127.0.${1 + (n % 200)}.9`;
      const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
      const over = () => open--;
      open++;
      socket.once("error", () => {}).once("close", over);
      socket.write("GET /docs/api HTTP/1.1\r\nHost: x\r\n\r\n".repeat(asksEach));
      sockets.push(socket.pause());
    }
    await sleep(exchangeWithinMs + 6000);
    // A paused socket does not see its end before it is read.
    for (const socket of sockets) socket.resume();
    await sleep(500);
    see({
      what: `${clients} clients that never read`,
      figure: `${open} still open after ${exchangeWithinMs / 1000 + 6} s (0)`,
      holds: open === 0,
    });
    const startedAtMs = performance.now();
    const { status } = await service.ask("/api/health");
    const tookMs = Math.round(performance.now() - startedAtMs);
    see({
      what: "a health check after them",
      figure: `${status} in ${tookMs} ms (200)`,
      holds: status === 200,
    });
    await service.kill();
  },
};
