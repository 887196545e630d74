import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { createDatabase, eventually, queryOnce } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { startPgBouncer } from "@/tests/support/pgbouncer";
import { type Environment, Service } from "@/tests/support/service";

const postgresUrl = String(inject("postgresUrl"));
const settings = {
  APP_URL: "https://office.example.com",
  APP_SECRET: "s".repeat(43),
  SIGN_IN: "local",
  BACKUP_PASSPHRASE: "correct horse battery staple",
};

/** A folder for PATH with Node and these programs, which print a line. */
function programs(lines: Record<string, string>): string {
  const folder = createFolder();
  symlinkSync(process.execPath, join(folder, "node"));
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho '${line}'\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** A database of a role of its own, in which its provider has tables that the role may not read, and a trigger of events. */
async function createManagedDatabase(): Promise<string> {
  const url = new URL(await createDatabase(postgresUrl));
  const name = url.pathname.slice(1);
  await queryOnce(
    url.href,
    `CREATE ROLE ${name} LOGIN;
     ALTER DATABASE ${name} OWNER TO ${name};
     CREATE SCHEMA auth;
     CREATE TABLE auth.users (id bigint);
     CREATE FUNCTION auth.watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
     CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION auth.watch();`,
  );
  url.username = name;
  return url.href;
}

describe("a backup of PostgreSQL", () => {
  it("passes a pooler by, whose connections keep nothing of it, and so does restoring it", async () => {
    const [direct, empty] = await Promise.all([1, 2].map(() => createDatabase(postgresUrl)));
    const pool = (url = "") => startPgBouncer(url, { poolSize: 1 });
    const service = await Service.make({
      ...settings,
      DATABASE_URL: await pool(direct),
      DATABASE_DIRECT_URL: String(direct),
    });
    await service.adminJson("account", "add", "ceo@example.com");
    const file = join(createFolder(), "office.backup");
    await service.adminJson("backup", file);
    expect(await service.adminJson("account", "list")).toHaveLength(1);
    expect(await queryOnce(service.environment.DATABASE_URL ?? "", "SHOW search_path")).toEqual([
      { search_path: '"$user", public' },
    ]);
    const restored = await Service.make({
      ...settings,
      DATABASE_URL: await pool(empty),
      DATABASE_DIRECT_URL: String(empty),
    });
    await restored.adminJson("restore", file);
    expect(await restored.adminJson("account", "list")).toHaveLength(1);
  });

  it("leaves alone what else is in a provider's database, in that of the restore as well", async () => {
    const [full, empty] = await Promise.all([1, 2].map(() => createManagedDatabase()));
    const service = await Service.make({ ...settings, DATABASE_URL: String(full) });
    await service.adminJson("account", "add", "ceo@example.com");
    const file = join(createFolder(), "office.backup");
    await service.adminJson("backup", file);
    const restored = await Service.make({ ...settings, DATABASE_URL: String(empty) });
    await restored.adminJson("restore", file);
    expect(await restored.adminJson("account", "list")).toHaveLength(1);
  });

  // getodk/central#1100, dimitri/pgcopydb#8
  it("is restored where the roles are missing that had rights, and gives those that have them by default", async () => {
    const [full, empty] = (await Promise.all([1, 2].map(() => createManagedDatabase()))) as [string, string];
    const roleOf = (url: string) => new URL(url).username;
    const [gone, reader] = [`${roleOf(full)}_anon`, `${roleOf(empty)}_reader`];
    const grantTo = (role: string) =>
      `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ${role}`;
    await queryOnce(postgresUrl, `CREATE ROLE ${gone}; CREATE ROLE ${reader}`);
    await queryOnce(full, grantTo(gone));
    await queryOnce(empty, grantTo(reader));
    const service = await Service.make({ ...settings, DATABASE_URL: full });
    await service.adminJson("account", "add", "ceo@example.com");
    const file = join(createFolder(), "office.backup");
    await service.adminJson("backup", file);
    await queryOnce(full, `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${gone}`);
    await queryOnce(full, grantTo(gone).replace("GRANT", "REVOKE").replace(" TO ", " FROM "));
    await queryOnce(postgresUrl, `DROP ROLE ${gone}`);
    const restored = await Service.make({ ...settings, DATABASE_URL: empty });
    await restored.adminJson("restore", file);
    expect(await restored.adminJson("account", "list")).toHaveLength(1);
    expect(
      await queryOnce(empty, `SELECT has_table_privilege('${reader}', 'accounts', 'SELECT') AS may`),
    ).toEqual([{ may: true }]);
  });

  it("keeps the schema that our tables are in", async () => {
    const [full, empty] = await Promise.all([1, 2].map(() => createDatabase(postgresUrl)));
    const inOffice = (url = "") => `${url}?options=-c%20search_path%3Doffice`;
    await queryOnce(String(full), "CREATE SCHEMA office");
    const service = await Service.make({ ...settings, DATABASE_URL: inOffice(full) });
    await service.adminJson("account", "add", "ceo@example.com");
    const file = join(createFolder(), "office.backup");
    await service.adminJson("backup", file);
    const restored = await Service.make({ ...settings, DATABASE_URL: inOffice(empty) });
    await restored.adminJson("restore", file);
    expect(await restored.adminJson("account", "list")).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, string]>([
    ["missing", {}, "pg_dump is not installed: it comes with PostgreSQL's own client"],
    [
      "older than the server",
      { pg_dump: "pg_dump (PostgreSQL) 9.6.24", pg_restore: "pg_restore (PostgreSQL) 9.6.24" },
      "pg_dump is of PostgreSQL 9, and the server of 15",
    ],
    [
      "one newer and one older",
      { pg_dump: "pg_dump (EnterpriseDB) 99.1", pg_restore: "pg_restore (PostgreSQL) 14.1" },
      "pg_restore is of PostgreSQL 14, and the server of 15",
    ],
  ])(
    "whose tools are %s is announced by check and at the start, and nothing fails",
    async (_, tools, words) => {
      const DATABASE_URL = await createDatabase(postgresUrl);
      const [{ major }] = (await queryOnce(
        DATABASE_URL,
        "SELECT current_setting('server_version_num')::int / 10000 AS major",
      )) as [{ major: number }];
      const lack = words.replace("of 15", `of ${major}`);
      const environment: Environment = { ...settings, DATABASE_URL, PATH: programs(tools) };
      const service = await Service.start(environment);
      expect(await service.check("backup")).toMatchObject({
        level: "warning",
        detail: `none was made; 'backup' and 'restore' do not work here: ${lack}`,
        remedy: expect.stringContaining("postgresql-client-17"),
      });
      await eventually(() => expect(service.log).toContain(`"lack":${JSON.stringify(lack)}`));
      await service.ready();
      expect(await service.stop()).toBe(0);
    },
  );

  it("with tools of its major or newer is fine", async () => {
    const service = await Service.start({ ...settings, DATABASE_URL: await createDatabase(postgresUrl) });
    expect(await service.check("backup")).toMatchObject({ detail: "none was made" });
    await service.ready();
    await service.stop();
    expect(service.log).not.toContain("'backup' and 'restore'");
  });
});
