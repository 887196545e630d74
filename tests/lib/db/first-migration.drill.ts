import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeArchive } from "@/lib/admin/backup-file";
import { readStore } from "@/lib/db/backup-copy";
import { beforeRelease, firstMigration, migrations } from "@/lib/db/migrations";
import { Store } from "@/lib/db/store";
import { startStage } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { buildEarlier } from "@/tests/support/earlier-build";
import { type Engine, engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";
import { readSchema } from "@/tests/support/schema";
import { Service } from "@/tests/support/service";
import type { OpenStore } from "@/tests/support/stores";

const { commit, count } = beforeRelease;
/** The last build before the first release, without its pages. */
const last = buildEarlier({ commit });
const later = Object.keys(migrations).filter((name) => name !== firstMigration);

const refusal = `unavailable: This store is of a build before ${commit}. Run 'migrate' of that commit on it, and then this build. It was left as it is.\n`;

/** A store that the first migration alone has made. */
async function makeFirst(engine: Engine): Promise<OpenStore> {
  const stage = await startStage(engine, { isEmpty: true });
  const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
  const changes = { [firstMigration]: migrations[firstMigration] ?? [] };
  const store = new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR }, changes);
  expect(await store.migrate()).toEqual([firstMigration]);
  await store.close();
  return stage;
}

/** A store's schema, and its rows from the beginning but for what each store makes anew. */
const readAll = async (stage: OpenStore) => [
  ...(await readSchema(stage)),
  ...(await stage.query("SELECT * FROM plans ORDER BY position")),
  ...(await stage.query("SELECT * FROM ledger_numbers")),
  ...(await stage.query("SELECT id, last, swept FROM event_numbers")),
  ...(await stage.query("SELECT id FROM plan_versions")),
];

describe.each(engines)("the first migration, on $name", async (engine) => {
  const first = await makeFirst(engine);
  /** A store of a build before the first release that has recorded so many migrations. */
  const record = async (recorded: number) => {
    const stage = await makeFirst(engine);
    await stage.query("DELETE FROM kysely_migration");
    const rows = Array.from(
      { length: recorded },
      (_, n) => `('${String(n + 1).padStart(3, "0")}-change', '')`,
    );
    await stage.query(`INSERT INTO kysely_migration (name, timestamp) VALUES ${rows.join(", ")}`);
    return { stage, service: await Service.make(stage.environment) };
  };

  it("never changes", async () => {
    const hash = createHash("sha256")
      .update((await readSchema(first)).join("\n"))
      .digest("hex");
    // PostgreSQL writes a schema in the words of its own version.
    if (!first.environment.DATABASE_URL)
      expect(hash).toBe("74e1dd12fc8c4113dbf2c55a56fab27310d526fb98bfad3ae0e40f81bd43515c");
  });

  it.runIf(last)(
    "makes what the migrations before it made, and leaves their stores as they are",
    async () => {
      const stage = await startStage(engine, { isEmpty: true });
      const before = await Service.make(stage.environment, { folder: String(last) });
      const run = async (...args: string[]) =>
        expect(await before.execute(["dist/admin/main.js", ...args])).toMatchObject({ code: 0, stderr: "" });
      await run("migrate");
      await run("account", "add", "ceo@example.com", "--credits", "5");
      const made = await readAll(stage);
      expect(made).toEqual(await readAll(first));

      const today = await Service.make(stage.environment);
      expect(await today.adminJson("migrate")).toEqual({ taken: later });
      if (later.length === 0) expect(await readAll(stage)).toEqual(made);
      await today.adminJson("credits", "add", "ceo@example.com", "2");
      await run("credits", "add", "ceo@example.com", "1");
      expect(await today.adminJson("account", "show", "ceo@example.com")).toMatchObject({ credits: 8 });
    },
  );

  it("is not applied to a store of the last build before it", async () => {
    const { service } = await record(count);
    expect(await service.adminJson("migrate")).toEqual({ taken: later });
    await service.adminJson("account", "add", "ceo@example.com");
  });

  it("refuses a store of an older build, which it leaves as it is and whose next build it names", async () => {
    const { stage, service } = await record(count - 1);
    const records = () => stage.query("SELECT * FROM kysely_migration ORDER BY name");
    const before = [await records(), await readAll(stage)];
    for (const command of [["migrate"], ["account", "list"]])
      expect(await service.admin(...command)).toEqual({ code: 1, stdout: "", stderr: refusal });
    expect(await service.check("store")).toMatchObject({ level: "fault", detail: refusal.slice(13, -1) });
    await service.run();
    expect((await service.ask("/ready")).status).toBe(503);
    expect((await service.ask("/api/health")).status).toBe(200);
    expect((await service.ask("/api/site-banner")).status).toBe(200);
    await service.stop({ expectErrors: true });
    expect([await records(), await readAll(stage)]).toEqual(before);
  });

  it("refuses the store of an older build's backup, once it is restored", async () => {
    const { stage } = await record(count - 1);
    const { APP_SECRET: appSecret } = besideDatabaseUrl;
    const { DATA_DIR: dataDir = "", DATABASE_URL: databaseUrl } = stage.environment;
    const [file, BACKUP_PASSPHRASE] = [join(createFolder(), "office.backup"), "correct horse battery staple"];
    await writeArchive(file, BACKUP_PASSPHRASE, {
      note: { engine: databaseUrl ? "postgresql" : "embedded", madeAt: new Date().toISOString(), appSecret },
      copy: readStore({ dataDir, databaseDirectUrl: databaseUrl }),
      signal: new AbortController().signal,
    });
    const empty = await startStage(engine, { isEmpty: true });
    const environment = { ...empty.environment, ...besideDatabaseUrl, BACKUP_PASSPHRASE };
    expect(await operate(["restore", file], environment)).toEqual({ code: 1, stdout: "", stderr: refusal });
    expect(await readAll(empty)).toEqual(await readAll(stage));
  });
});
