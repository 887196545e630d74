import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "@/tests/support/service";

export type Flood = {
  path: string;
  /** The addresses that its requests come from in turn, as a proxy would say. */
  addresses: readonly string[];
  connections: number;
  headers?: OutgoingHttpHeaders | ((n: number) => OutgoingHttpHeaders);
  body?: (n: number) => string;
};

/** Sends requests over so many connections, each the next one as soon as it is answered, until it is stopped. */
export function flood(service: Service, { path, addresses, connections, headers = {}, body }: Flood) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses = new Map<number, number>();
  let sent = 0;
  let isOver = false;
  const send = () =>
    new Promise<number>((resolve) => {
      const n = sent++;
      const own = typeof headers === "function" ? headers(n) : headers;
      const sender = { "x-forwarded-for": addresses[n % addresses.length], ...own };
      const to = { host: "127.0.0.1", port: service.port, path, agent, headers: sender };
      const sending = request({ ...to, method: body ? "POST" : "GET" }, (response) => {
        response.resume().once("close", () => resolve(response.statusCode ?? 0));
      });
      sending.once("error", () => resolve(0));
      sending.end(body?.(n));
    });
  const all = Array.from({ length: connections }, async () => {
    while (!isOver) {
      const status = await send();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 0) await sleep(10);
    }
  });
  return {
    statuses,
    /** Ends it, and returns how often it got each status; 0 for no answer. */
    async stop() {
      isOver = true;
      await Promise.all(all);
      agent.destroy();
      return statuses;
    },
  };
}

/** So many networks of IPv6, one client each. */
export const networks = (count: number) =>
  Array.from({ length: count }, (_, n) => `2001:db8:${n.toString(16)}::1`);
