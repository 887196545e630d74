import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/operations";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { writeDueMails } from "@/tests/support/due-mails";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import { createStore, engineNames } from "@/tests/support/stores";
import { median, timesDuring } from "@/tests/support/timing";
import type { Experiment } from "./experiment";

const sizes = [400, 10_000, 100_000];
const windowMs = 4000;

/** The rate of sent mails does not depend on how many are due, and the API is hardly slower meanwhile. */
export const mailsDue: Experiment[] = engineNames.map((engine) => ({
  name: `mails-due-${engine}`,
  async run(see) {
    const store = await createStore(engine);
    const inbox = await startSmtpInbox();
    const mail = { EMAIL_FROM: "office@example.com", SMTP_URL: `smtp://127.0.0.1:${inbox.port}` };
    const settings = { ...besideDatabaseUrl, ...store.environment, ...mail };
    const service = await Service.start(settings, { logTo: "file" });
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const headers = { authorization: `Bearer ${await service.token("ceo@example.com")}` };
    const latencyDuring = async (other: Promise<unknown>) =>
      median(await timesDuring(other, () => service.ask(operations.entitlement.path, { headers }), 10));
    const aloneMs = await latencyDuring(sleep(windowMs));
    await service.stop();

    let firstPerSecond: number | undefined;
    for (const [at, size] of sizes.entries()) {
      await writeDueMails(store, { from: sizes[at - 1] ?? 0, to: size });
      inbox.received.length = 0;
      await service.run();
      while (inbox.received.length === 0) await sleep(5);
      const beganAtMs = performance.now();
      const beforeCpuMs = processorTimeOf(service.pid) / 1000;
      const sending = async () => {
        while (performance.now() - beganAtMs < windowMs && inbox.received.length < size) await sleep(5);
      };
      const latencyMs = await latencyDuring(sending());
      const mails = inbox.received.length;
      const perSecond = (mails / (performance.now() - beganAtMs)) * 1000;
      const cpuMs = (processorTimeOf(service.pid) / 1000 - beforeCpuMs) / mails;
      await service.stop();

      firstPerSecond ??= perSecond;
      const due = `${size.toLocaleString("en")} due`;
      see({
        what: due,
        figure: `${perSecond.toFixed(0)} mails/s at ${cpuMs.toFixed(1)} ms of CPU each (0.8 of the first or more: ${(perSecond / firstPerSecond).toFixed(2)})`,
        holds: perSecond >= 0.8 * firstPerSecond,
      });
      see({
        what: `${due}, the entitlement meanwhile`,
        figure: `${latencyMs.toFixed(1)} ms, and ${aloneMs.toFixed(1)} ms without mails (twice at most)`,
        holds: latencyMs <= 2 * aloneMs,
      });
    }
    await inbox.stop();
  },
}));
