import { setTimeout as sleep } from "node:timers/promises";
import { officePages } from "@/lib/office/routes";
import { healthBeside } from "@/tests/bench/load";
import { judge } from "@/tests/bench/verdict";
import { emailOfMany, manyAccounts } from "@/tests/support/many-accounts";
import { OfficeBrowser, startWithOffice } from "@/tests/support/office-browser";
import type { OpenStore } from "@/tests/support/stores";
import { median, timesDuring } from "@/tests/support/timing";

const many = 1_000_000;
const someEmail = emailOfMany(many);
const rounds = 15;

/** Every page of the office with a million accounts, and health's p99 while an operator opens one after the other. */
export async function measureOffice(engine: string, { environment, query }: OpenStore): Promise<void> {
  const service = await startWithOffice({ RATE_LIMIT_HEALTH: "100000000", ...environment });
  const ann = await OfficeBrowser.enrol(service, "ann");
  await service.kill();
  for (const statement of manyAccounts(many, Date.now())) await query(statement);
  for (const statement of ["VACUUM", "ANALYZE"]) await query(statement);
  await service.run();
  const paths = [
    ...officePages.map(({ path }) => (path === "/account" ? `${path}?email=${someEmail}` : path)),
    "/accounts?find=user-77",
    "/accounts?find=user-77&plan=hobby",
    "/accounts?find=nowhere.example",
    "/accounts?find=cus_77",
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
  let opened = 0;
  // An operator opens two pages a second.
  const work = () => timesDuring(sleep(11_000), () => ann.open(paths[opened++ % paths.length] ?? ""), 500);
  const { ratio, figures } = await healthBeside(service.port, work);
  judge(`health while an operator works, ${engine}`, ratio, { most: 1.5 }, "×", figures);
  await service.stop();
}
