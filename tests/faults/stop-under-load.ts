import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const connections = 50;

/** The server is stopped while clients send requests over keep-alive connections. */
export const stopUnderLoad: Experiment = {
  name: "stop-under-load",
  async run(see) {
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const service = await Service.start({ RATE_LIMIT_HEALTH: "1000000" }, { logTo: "file" });
      const agent = new Agent({ keepAlive: true, maxSockets: connections });
      const outcomes = { answered: 0, refused: 0, reset: 0 };
      const client = async () => {
        for (;;) {
          const outcome = await ask(service.port, agent);
          outcomes[outcome]++;
          if (outcome !== "answered") return;
        }
      };
      const clients = Array.from({ length: connections }, client);
      await sleep(1000);
      const exit = service.exit();
      service.signal(signal);
      const code = await exit;
      await Promise.all(clients);
      agent.destroy();
      see({
        what: `${signal} under ${connections} busy connections`,
        figure: `${outcomes.answered} answered, ${outcomes.reset} reset (0), exit ${code} (0)`,
        holds: outcomes.reset === 0 && code === 0,
      });
    }
  },
};

/** A new connection may be refused by a stopped server; a connection that was kept alive may not break. */
function ask(port: number, agent: Agent): Promise<"answered" | "refused" | "reset"> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/api/health", agent }, (response) => {
      response.resume().once("end", () => resolve("answered"));
    });
    request.once("error", () => resolve(request.reusedSocket ? "reset" : "refused"));
  });
}
