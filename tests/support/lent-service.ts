import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines, type Stage } from "@/tests/support/engines";
import { oncePerWorker } from "@/tests/support/once-per-worker";
import { Service } from "@/tests/support/service";
import { addStandingBy, removeStandingBy, requireUntouched } from "@/tests/support/standing-by";
import { listTables } from "@/tests/support/stores";

/** The limits of a lent service: practically none. */
export const raised = { health: 100_000, mcp: 200_000 };

/** The support address of a lent service. */
export const supportEmail = "help@example.com";

const settings = {
  RATE_LIMIT_HEALTH: String(raised.health),
  RATE_LIMIT_MCP: String(raised.mcp),
  SUPPORT_EMAIL: supportEmail,
};

type Lent = { stage: Stage; service: Service; isAlone: boolean };

let lent = 0;

/**
 * A service with local sign-in that a worker starts once per engine and lends to its test files in sequence. Each file
 * gets it as new: only the signing key and who stands by in the store, no mails, an empty log, and a client address with
 * unused limits. A file that borrows it must leave it as it was, and must take the errors that it causes. The banner shown
 * may be another file's for fifteen seconds.
 */
export async function lend(
  engine = engines[0] as Engine,
  { isAlone = inject("isAlone") } = {},
): Promise<Lent> {
  const { stage, service } = await oncePerWorker(`the service lent on ${engine.name}`, async () => {
    const stage = await engine.prepare({ until: "process" });
    return {
      stage,
      service: await Service.start({ ...stage.environment, ...settings }, { until: "process" }),
    };
  });
  if (!service.isRunning) await service.run(); // a failed test may have left it killed
  await removeStandingBy(stage.query);
  await emptyTables(stage);
  if (!isAlone) await addStandingBy(stage.query, inject("standingBy"));
  deleteMails(service);
  service.from = `127.30.${Math.floor(++lent / 254)}.${(lent % 254) + 1}`;
  return { stage, service, isAlone };
}

const kept = ["signing_keys", "link_keys", "kysely_migration", "plans", "plan_versions"];

/** Deletes every row but those of its keys, of the plans that a new store has, and of who stands by. */
export async function emptyTables(stage: Stage): Promise<void> {
  for (const name of await listTables(stage)) {
    if (!kept.includes(name)) await stage.query(`DELETE FROM ${name}`);
  }
  await stage.query("DELETE FROM plans WHERE name NOT IN ('trial', 'hobby', 'licensed')");
  await stage.query("UPDATE plans SET features = '{}', limits = '{}', credit_thousandths = 0");
  await stage.query("DELETE FROM changed_plans");
  await stage.query(`UPDATE plan_versions SET version = '${randomUUID()}'`);
}

function deleteMails({ dataDir }: Service): void {
  const mails = join(dataDir, "mail");
  for (const name of existsSync(mails) ? readdirSync(mails) : []) {
    // A mail that is being written has another name.
    if (name.endsWith(".eml")) rmSync(join(mails, name), { force: true });
  }
}

/** Returns the service after a test file. Throws if it logged an error that no test took, or if who stood by was changed. */
export async function giveBack({ service, stage, isAlone }: Lent): Promise<void> {
  // All earlier lines are in the log once a later one is.
  const id = randomUUID();
  await service.ask(operations.health.path, { headers: { "x-request-id": id } });
  await eventually(() => expect(service.log).toContain(id));
  const errors = service.takeErrors();
  service.forgetLog();
  expect(errors).toEqual([]);
  if (!isAlone) await requireUntouched(stage.query, inject("standingBy"));
}
