import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { actions } from "@/lib/http/pages";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { mailTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";
import type { Experiment, Finding } from "./experiment";

const formsASecond = 250;
const owners = 6;
const waitAtMostMs = 5000;

/** Posts forms for emails without an account at a fixed rate, in its own thread. */
const flood = `
const { Agent, request } = require("node:http");
const { parentPort, workerData: { port, origin, path, perSecond, isOneNetwork } } = require("node:worker_threads");
const agent = new Agent({ keepAlive: true, maxSockets: 200 });
const statuses = {};
let n = 0;
setInterval(() => {
  for (let left = perSecond / 50; left > 0; left--, n++) {
    const id = n.toString(16);
    const headers = {
      "x-forwarded-for": isOneNetwork ? "2001:db8:1:" + id + "::1" : "2001:db8:" + id + "::1",
      "content-type": "application/x-www-form-urlencoded",
      origin,
      cookie: "office-probe=1",
    };
    const sent = request({ port, host: "127.0.0.1", path, method: "POST", headers, agent }, (answer) => {
      const problem = /problem=([a-z-]+)/.exec(answer.headers.location ?? "")?.[1] ?? "";
      const outcome = answer.statusCode + " " + problem;
      statuses[outcome] = (statuses[outcome] ?? 0) + 1;
      answer.resume();
    });
    sent.on("error", () => {}).end("email=stranger" + n + "%40example.com");
  }
}, 20);
parentPort.on("message", () => parentPort.postMessage(statuses));
`;

/** Strangers ask for codes without end, and an owner for one. */
export const codesFlood: Experiment[] = (["embedded", "postgres"] as const).map((engine) => ({
  name: `codes-flood-${engine}`,
  async run(see, world) {
    const environment = {
      ...besideDatabaseUrl,
      SIGN_IN: "local",
      TRUSTED_PROXY_HOPS: "1",
      ...(engine === "postgres" ? { DATABASE_URL: await world.createDatabase() } : {}),
    };
    for (const isOneNetwork of [true, false]) {
      const service = await Service.start(environment, { logTo: "file" });
      see(await measure(service, isOneNetwork));
      await service.kill();
    }
  },
}));

async function measure(service: Service, isOneNetwork: boolean): Promise<Finding> {
  const emails = Array.from({ length: owners }, (_, n) => `ceo${n}-${isOneNetwork}@example.com`);
  for (const email of emails) await service.adminJson("account", "add", email, "--plan", "licensed");
  // A browser that has signed in before.
  const known = await Browser.signIn(service, emails[0] ?? "");
  const { path } = actions.sendCode;
  const workerData = { port: service.port, origin: service.url, path, perSecond: formsASecond, isOneNetwork };
  const worker = new Worker(flood, { eval: true, workerData });
  await sleep(1000);
  const waitsMs: number[] = [];
  const refusals: string[] = [];
  for (const email of emails.slice(1)) {
    const browser = isOneNetwork ? new Browser(service) : known;
    const beganAtMs = performance.now();
    const { status, headers } = await browser.submit(path, { email });
    if (headers.location !== "/sign-in/code") refusals.push(`${status} ${headers.location}`);
    else {
      await mailTo(service.dataDir, email, /is your sign-in code/);
      waitsMs.push(performance.now() - beganAtMs);
    }
    await sleep(2500);
  }
  worker.postMessage("how many?");
  const statuses = await new Promise((resolve) => worker.once("message", resolve));
  await worker.terminate();
  const slowestMs = Math.max(...waitsMs);
  const from = isOneNetwork
    ? "one /48, and an owner elsewhere"
    : "as many /48s, and an owner's known browser";
  return {
    what: `${formsASecond} forms a second from ${from}`,
    figure: `mail after ${waitsMs.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s (${waitAtMostMs / 1000}); ${refusals.length} refused ${refusals.join(", ")}; strangers: ${JSON.stringify(statuses)}`,
    holds: refusals.length === 0 && slowestMs <= waitAtMostMs,
  };
}
