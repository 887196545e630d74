import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/operations";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { writeDueMails } from "@/tests/support/due-mails";
import { createFolder } from "@/tests/support/leash";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { type Environment, Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import type { Experiment } from "./experiment";

const sizes = [400, 10_000, 100_000, 800_000];
const windowMs = 4000;

/** The rate of sent mails does not depend on how many are due, and the API is hardly slower meanwhile. */
export const mailsDue: Experiment[] = (["embedded", "postgres"] as const).map((engine) => ({
  name: `mails-due-${engine}`,
  async run(see, world) {
    const databaseUrl = engine === "postgres" ? await world.createDatabase() : undefined;
    const inbox = await startSmtpInbox();
    const common = { ...besideDatabaseUrl, SIGN_IN: "local", EMAIL_FROM: "office@example.com" };
    const start = async (environment: Environment) => {
      const service = await Service.start({ ...common, ...environment }, { logTo: "file" });
      await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
      const headers = { authorization: `Bearer ${await service.token("ceo@example.com")}` };
      return { service, ask: () => service.ask(operations.entitlement.path, { headers }) };
    };
    const SMTP_URL = `smtp://127.0.0.1:${inbox.port}`;
    const { service, ask } = await start({
      SMTP_URL,
      DATA_DIR: createFolder(),
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    });
    // A service without mails measures the machine's request time at the same moment.
    const alone = await start(databaseUrl ? { DATABASE_URL: await world.createDatabase() } : {});
    await service.stop();

    let first: { perSecond: number; cpuMs: number } | undefined;
    for (const [at, size] of sizes.entries()) {
      const dataDir = service.dataDir;
      await writeDueMails({ databaseUrl, dataDir }, { from: sizes[at - 1] ?? 0, to: size });
      inbox.received.length = 0;
      await service.run();
      while (inbox.received.length === 0) await sleep(5);
      const beganAtMs = performance.now();
      const [before, beforeCpuMs] = [inbox.received.length, processorTimeOf(service.pid) / 1000];
      const latencies = { withMails: [] as number[], alone: [] as number[] };
      while (performance.now() - beganAtMs < windowMs && inbox.received.length < size) {
        latencies.withMails.push(await timeOf(ask));
        latencies.alone.push(await timeOf(alone.ask));
        await sleep(10);
      }
      const mails = inbox.received.length - before;
      const perSecond = (mails / (performance.now() - beganAtMs)) * 1000;
      const cpuMs = (processorTimeOf(service.pid) / 1000 - beforeCpuMs) / mails;
      await service.stop();

      first ??= { perSecond, cpuMs };
      const due = `${size.toLocaleString("en")} due`;
      see({
        what: due,
        figure: `${perSecond.toFixed(0)} mails/s at ${cpuMs.toFixed(1)} ms of CPU each (0.8 of the first or more: ${(perSecond / first.perSecond).toFixed(2)})`,
        holds: perSecond >= 0.8 * first.perSecond,
      });
      const [withMails, withNone] = [middle(latencies.withMails), middle(latencies.alone)];
      see({
        what: `${due}, the entitlement meanwhile`,
        figure: `${withMails.toFixed(1)} ms, and ${withNone.toFixed(1)} ms in a process without mails (twice at most)`,
        holds: withMails <= 2 * withNone,
      });
    }
    await alone.service.stop();
    await inbox.stop();
  },
}));

async function timeOf(ask: () => Promise<{ status: number }>): Promise<number> {
  const beganAtMs = performance.now();
  const { status } = await ask();
  if (status !== 200) throw new Error(`entitlement answered ${status}`);
  return performance.now() - beganAtMs;
}

function middle(numbers: number[]): number {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
