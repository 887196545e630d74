import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { Browser } from "@/tests/support/browser";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import { median, timeOf, timesDuring } from "@/tests/support/timing";
import type { Experiment } from "./experiment";

const share = { runsMs: 10, rests: 90 };
const pageCount = 20;

/** The service may run for a tenth of the time, from its start on, as under a quota of its container. */
export const tenthOfACore: Experiment = {
  name: "tenth-of-a-core",
  async run(see) {
    const service = await Service.start({ SIGN_IN: "local" }, { logTo: "file" });
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const ceo = await Browser.signIn(service, "ceo@example.com");
    await service.kill();
    const throttle = throttled(service);
    const health = () => service.ask(operations.health.path);
    const readyMs = await timeOf(() => service.run().then(health));
    see({ what: "the first answer after the start", figure: `${Math.round(readyMs)} ms`, holds: true });

    let came = 0;
    const open = async () => {
      const { text } = await ceo.open(pages.home.path);
      if (text.includes("Your plan is active")) came++;
    };
    const [cpuBefore, pagesBegunAtMs] = [processorTimeOf(service.pid) / 1000, performance.now()];
    const opening = Promise.all(Array.from({ length: pageCount }, () => timeOf(open)));
    const checks = await timesDuring(opening, health, 50);
    const waits = await opening;
    const tookMs = performance.now() - pagesBegunAtMs;
    const cpuMs = processorTimeOf(service.pid) / 1000 - cpuBefore;
    throttle.end();
    const [usual, slowest] = [median(waits), Math.max(...waits)];
    see({
      what: `${pageCount} pages of one owner at once`,
      figure: `${came} came (${pageCount}), half of them within ${Math.round(usual)} ms, the last after ${Math.round(slowest)} ms, on ${Math.round((100 * cpuMs) / tookMs)} % of a core`,
      holds: came === pageCount,
    });
    const check = median(checks);
    see({
      what: "health meanwhile",
      figure: `half within ${Math.round(check)} ms (a quarter of the pages'), the slowest ${Math.round(Math.max(...checks))} ms`,
      holds: check < usual / 4,
    });
    await service.stop();
  },
};

/** Freezes a service for most of the time, also while it starts. */
function throttled(service: Service): { end: () => void } {
  let isOver = false;
  void (async () => {
    while (!isOver) {
      service.signal("SIGSTOP");
      await sleep(share.rests);
      service.signal("SIGCONT");
      await sleep(share.runsMs);
    }
  })();
  return {
    end: () => {
      isOver = true;
      service.signal("SIGCONT");
    },
  };
}
