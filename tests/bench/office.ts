import { operations } from "@/lib/http/operations";
import { officePages } from "@/lib/office/routes";
import { latenciesAt, median } from "@/tests/bench/load";
import { seed } from "@/tests/bench/seed";
import { judge } from "@/tests/bench/verdict";
import { emailOfMany, manyAccounts } from "@/tests/support/many-accounts";
import { OfficeBrowser, startWithOffice } from "@/tests/support/office-browser";
import type { Environment } from "@/tests/support/service";

const many = 1_000_000;
const someEmail = emailOfMany(many);
const rounds = 15;

/** Every page of the office with a million accounts, and health's p99 while an operator opens one after the other. */
export async function measureOffice(engine: string, environment: Environment): Promise<void> {
  const service = await startWithOffice({ SIGN_IN: "local", RATE_LIMIT_HEALTH: "100000000", ...environment });
  const ann = await OfficeBrowser.enrol(service, "ann");
  await service.kill();
  await seed(service.environment, manyAccounts(many, Date.now()));
  await service.run();
  const paths = [
    ...officePages.map(({ path }) => (path === "/account" ? `${path}?email=${someEmail}` : path)),
    "/accounts?start=user-77",
    "/accounts?start=user-77&plan=hobby",
    "/accounts?plan=hobby",
    "/accounts?trials=running",
    "/accounts?trials=ended",
    "/audit?who=operator+ann",
    `/audit?whom=${someEmail}`,
    "/audit?what=account+set&day=2026-11-01",
    "/audit?who=no+one&what=sign+in",
  ];
  for (const path of paths) {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAtMs = performance.now();
      const { status } = await ann.open(path);
      taken.push(performance.now() - startedAtMs);
      if (status !== 200) throw new Error(`${path} is a ${status}`);
    }
    const figures = `median ${median(taken).toFixed(0)} ms, first ${taken[0]?.toFixed(0)} ms`;
    judge(
      `office ${path.replace(someEmail, "…")}, ${engine}, slowest of ${rounds}`,
      Math.max(...taken),
      { most: 150 },
      "ms",
      figures,
    );
  }
  await judgeHealth(ann, paths, engine, `http://localhost:${service.port}${operations.health.path}`);
  await service.stop();
}

/** An operator opens two pages a second. */
async function judgeHealth(ann: OfficeBrowser, paths: string[], engine: string, url: string): Promise<void> {
  const perSecond = 320;
  const alone = await latenciesAt(url, perSecond);
  let isOver = false;
  const working = (async () => {
    for (let at = 0; !isOver; at++) {
      await ann.open(paths[at % paths.length] ?? "");
      await new Promise((then) => setTimeout(then, 500));
    }
  })();
  const beside = await latenciesAt(url, perSecond);
  isOver = true;
  await working;
  const figures = `p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms then`;
  judge(`health while an operator works, ${engine}`, beside.p99 / alone.p99, { most: 1.5 }, "×", figures);
}
