import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { operations } from "@/lib/http/operations";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines, type Stage } from "@/tests/support/engines";
import { oncePerWorker } from "@/tests/support/once-per-worker";
import { Service } from "@/tests/support/service";

/** What a lent service allows: as good as everything. */
export const raised = { health: 100_000, mcp: 200_000 };

/** Where a lent service says that a person reads. */
export const supportEmail = "help@example.com";

const settings = {
  RATE_LIMIT_HEALTH: String(raised.health),
  RATE_LIMIT_MCP: String(raised.mcp),
  SUPPORT_EMAIL: supportEmail,
};

let lent = 0;

/**
 * A service with local sign-in, which a worker starts once for each engine and lends to one file after the other. Each
 * finds it as if it were the first: no row in the store but the key that signs, no mail, no line in the log, and an
 * address that has spent no allowance. It is for files that leave it as it was, and take the errors that they make it
 * log; the notice that it shows may be another file's for fifteen seconds.
 */
export async function lend(engine = engines[0] as Engine): Promise<{ stage: Stage; service: Service }> {
  const { stage, service } = await oncePerWorker(`the service lent on ${engine.name}`, async () => {
    const stage = await engine.prepare({ until: "process" });
    return {
      stage,
      service: await Service.start({ ...stage.environment, ...settings }, { until: "process" }),
    };
  });
  if (!service.isRunning) await service.run(); // a test has failed that kills it
  await empty(stage, service);
  service.from = `127.30.0.${++lent}`;
  return { stage, service };
}

async function empty(stage: Stage, { environment, dataDir }: Service): Promise<void> {
  const named = environment.DATABASE_URL
    ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
    : "SELECT name FROM sqlite_master WHERE type = 'table'";
  for (const { name } of await stage.query(named)) {
    if (name !== "signing_keys" && name !== "kysely_migration") await stage.query(`DELETE FROM ${name}`);
  }
  const mails = join(dataDir, "mail");
  for (const name of existsSync(mails) ? readdirSync(mails) : []) {
    // One that is being written has another name yet.
    if (name.endsWith(".eml")) rmSync(join(mails, name), { force: true });
  }
}

/** Ends a file's use of it. Fails when it logged an error meanwhile that nobody took. */
export async function giveBack(service: Service): Promise<void> {
  // What it had to log is in the log once a later line is.
  const id = randomUUID();
  await service.ask(operations.health.path, { headers: { "x-request-id": id } });
  await eventually(() => expect(service.log).toContain(id));
  const errors = service.takeErrors();
  service.forgetLog();
  expect(errors).toEqual([]);
}
