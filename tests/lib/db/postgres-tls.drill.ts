import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { privateNetworks } from "@/lib/config/networks";
import { Store } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";
import { certificate, makeAuthority } from "@/tests/support/certificate";
import {
  besideDatabaseUrl,
  createDatabase,
  eventually,
  findPostgres,
  postgresUser,
  queryOnce,
  startPostgres,
} from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";
import { type Environment, Service } from "@/tests/support/service";

/** Who may connect how: tls_only and plain_only as their names say, ceo with a certificate, scram with a password. */
const pgHba = `
local all all trust
hostssl all ceo all cert
hostssl all scram all scram-sha-256
hostnossl all scram all reject
hostssl all tls_only all trust
hostnossl all tls_only all reject
hostssl all plain_only all reject
host all all all trust
`;

describe.runIf(findPostgres() && inject("postgresUrl"))(
  "a PostgreSQL with a certificate of its own CA",
  async () => {
    const files = makeAuthority();
    const own = createFolder();
    const at = (name: string) => join(files, name);
    for (const name of ["server.pem", "server.key", "ca.pem"]) copyFileSync(at(name), join(own, name));
    writeFileSync(join(own, "pg_hba.conf"), pgHba);
    chmodSync(join(own, "server.key"), 0o600);
    const user = postgresUser();
    if (user)
      for (const name of ["", "server.pem", "server.key", "ca.pem", "pg_hba.conf"])
        chownSync(join(own, name), user.uid, user.gid);
    const server = await startPostgres(undefined, [
      "ssl=on",
      `ssl_cert_file=${own}/server.pem`,
      `ssl_key_file=${own}/server.key`,
      `ssl_ca_file=${own}/ca.pem`,
      `hba_file=${own}/pg_hba.conf`,
      `unix_socket_directories=${own}`,
    ]);
    if (!server) throw new Error("unreachable");
    for (const role of ["ceo", "tls_only", "plain_only", "scram PASSWORD 'a b@c'"]) {
      const [name, ...rest] = role.split(" ");
      await queryOnce(server.url, `CREATE ROLE ${name} LOGIN SUPERUSER ${rest.join(" ")}`);
    }
    const port = new URL(server.url).port;
    const databaseUrl = await createDatabase(server.url);
    const database = new URL(databaseUrl).pathname.slice(1);
    const first = new Store({ databaseUrl, dataDir: "" });
    await first.ready();
    await first.close();
    const stranger = join(own, "stranger.pem");
    writeFileSync(stranger, certificate().cert);

    const address = (host: string, query = "", who = "postgres") =>
      `postgres://${who}@${host}:${port}/${database}?${query}`;
    afterEach(() => vi.restoreAllMocks());

    /** Whether the store's connection is encrypted; or why there is none. */
    async function connect(url: string): Promise<boolean | string> {
      const store = new Store({ databaseUrl: url, dataDir: "" });
      try {
        const answer = sql<{ ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
        const { rows } = await answer.execute(await store.ready());
        return rows[0]?.ssl ?? "no row";
      } catch (failure) {
        return (failure as Error).message;
      } finally {
        await store.close();
      }
    }

    const [unknown, otherName] = [/self.signed|unable to (verify|get)/, /does not match certificate/];

    it.each([
      ["", true, true],
      ["sslmode=disable", false, false],
      ["sslmode=allow", false, false],
      ["sslmode=prefer", true, true],
      ["sslmode=require", true, true],
      ["sslmode=no-verify", true, true],
      ["ssl=true", true, true],
      ["sslmode=verify-ca", unknown, unknown],
      ["sslmode=verify-full", unknown, unknown],
      ["sslrootcert=system", unknown, unknown],
      [`sslmode=require&sslrootcert=${at("ca.pem")}`, true, true],
      [`sslmode=require&sslrootcert=${stranger}`, unknown, unknown],
      [`sslmode=verify-ca&sslrootcert=${at("ca.pem")}`, true, true],
      [`sslmode=verify-ca&sslrootcert=${stranger}`, unknown, unknown],
      [`sslmode=verify-full&sslrootcert=${at("ca.pem")}`, true, otherName],
      [`sslmode=verify-full&sslrootcert=${stranger}`, unknown, unknown],
    ])(
      "with '%s' is encrypted as libpq would: by its name %s, by its address %s",
      async (query, byName, byAddress) => {
        for (const [host, expected] of [
          ["localhost", byName],
          ["127.0.0.1", byAddress],
        ] as const) {
          const found = await connect(address(host, query));
          if (expected instanceof RegExp) expect(found).toMatch(expected);
          else expect(found).toBe(expected);
        }
      },
    );

    it("is reached in the other way where it refuses the first, if the mode leaves that open", async () => {
      expect(await connect(address("localhost", "sslmode=allow", "tls_only"))).toBe(true);
      expect(await connect(address("localhost", "sslmode=prefer", "plain_only"))).toBe(false);
      expect(await connect(address("localhost", "", "plain_only"))).toBe(false);
      expect(await connect(address("localhost", "sslmode=disable", "tls_only"))).toMatch(/no encryption/);
      expect(await connect(address("localhost", "sslmode=require", "plain_only"))).toMatch(
        /rejects connection/,
      );
    });

    it("without TLS is refused by every mode from require on, and reached by the others", async () => {
      const plain = inject("postgresUrl") ?? "";
      for (const mode of ["require", "verify-ca", "verify-full"])
        expect(await connect(`${plain}?sslmode=${mode}`)).toBe("The server does not support SSL connections");
      for (const mode of ["", "?sslmode=prefer", "?sslmode=allow", "?sslmode=disable"])
        expect(await connect(`${await createDatabase(plain)}${mode}`)).toBe(false);
    });

    it("goes on once a rotation has replaced a password, and an authority, in their files", async () => {
      const [ca, folder] = [join(own, "ca-now.pem"), createFolder()];
      copyFileSync(at("ca.pem"), ca);
      const databaseUrlFile = join(folder, "now", "database-url");
      /** As Kubernetes renews a volume of secrets: by a link to another folder. */
      const write = (password: string) => {
        const version = randomUUID();
        mkdirSync(join(folder, version));
        const query = `sslmode=verify-full&sslrootcert=${ca}`;
        const url = address("localhost", query, `scram:${encodeURIComponent(password)}`);
        writeFileSync(join(folder, version, "database-url"), `${url}\n`);
        symlinkSync(version, join(folder, "next"));
        renameSync(join(folder, "next"), join(folder, "now"));
        return url;
      };
      const databaseUrl = write("a b@c");
      const told = vi.spyOn(log(), "info");
      const warned = vi.spyOn(log(), "warn");
      const store = new Store({ databaseUrl, databaseUrlFile, databasePool: 2, dataDir: "" });
      const db = await store.ready();
      const ask = () =>
        sql`SELECT 1`.execute(db).then(
          () => "answered",
          ({ message }: Error) => message,
        );
      const end = () =>
        queryOnce(
          server.url,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'scram'",
        );
      expect(await ask()).toBe("answered");
      await queryOnce(server.url, "ALTER ROLE scram PASSWORD 'd/e'");
      await end();
      await eventually(async () => expect(await ask()).toMatch(/password authentication failed/));
      writeFileSync(databaseUrlFile, "not written to its end");
      expect(await ask()).toMatch(/password authentication failed/);
      write("d/e");
      expect(await ask()).toBe("answered");
      copyFileSync(stranger, ca);
      write("f");
      await queryOnce(server.url, "ALTER ROLE scram PASSWORD 'f'");
      await end();
      await eventually(async () => expect(await ask()).toMatch(unknown));
      rmSync(ca);
      expect(await ask()).toMatch(unknown);
      copyFileSync(at("ca.pem"), ca);
      expect(await ask()).toBe("answered");
      expect(told.mock.calls.flat()).toContain("the address of the store, or a certificate, was read anew");
      expect(warned.mock.calls.flat()).not.toContain("the store is at another host now");
      await queryOnce(server.url, "ALTER ROLE scram PASSWORD 'a b@c'");
      await store.close();
    });

    it("takes a certificate as a password, and a password with odd characters over a bound channel", async () => {
      const mine = `sslcert=${at("client.pem")}&sslkey=${at("client.key")}`;
      expect(await connect(address("localhost", `sslmode=require&${mine}`, "ceo"))).toBe(true);
      expect(await connect(address("localhost", "sslmode=require", "ceo"))).toMatch(/certificate/);
      for (const who of ["scram:a%20b%40c", "scram:a b@c"])
        expect(await connect(address("localhost", "sslmode=require&channel_binding=require", who))).toBe(
          true,
        );
    });

    it("is reached by its Unix socket, in each of the forms, and never with TLS", async () => {
      const folder = encodeURIComponent(own);
      for (const url of [
        `postgres://postgres:p@/${database}?host=${own}&port=${port}`,
        `postgres://postgres:p@localhost/${database}?host=${folder}&port=${port}&sslmode=require`,
        `postgres:///${database}?host=${own}&user=postgres&port=${port}`,
        `postgresql://postgres:p@${folder}:${port}/${database}`,
      ])
        expect(await connect(url), url).toBe(false);
    });

    it("outside of private networks and without TLS is worth one warning", async () => {
      const warnings = vi.spyOn(log(), "warn").mockReturnValue();
      const said = () => warnings.mock.calls.flat().filter((word) => /not encrypted/.test(String(word)));
      await connect(address("127.0.0.1", "sslmode=disable"));
      vi.spyOn(privateNetworks, "has").mockReturnValue(false);
      await connect(address("127.0.0.1", "sslmode=require"));
      expect(said()).toEqual([]);
      for (let n = 0; n < 2; n++) await connect(address("127.0.0.1", "sslmode=disable"));
      expect(said()).toEqual([
        "the store is neither on this machine nor in a private network, and connections to it are not encrypted: set sslmode=verify-full, or require at least, in DATABASE_URL",
      ]);
    });

    const ca = at("ca.pem");
    const mine = `sslcert=${at("client.pem")}&sslkey=${at("client.key")}`;

    it.each<[string, string, string, Environment?]>([
      ["localhost", "postgres", ""],
      ["localhost", "plain_only", "sslmode=prefer"],
      ["127.0.0.1", "tls_only", "sslmode=no-verify"],
      ["127.0.0.1", "tls_only", `sslmode=verify-ca&sslrootcert=${ca}`],
      ["localhost", "tls_only", `sslmode=verify-full&sslrootcert=${ca}`],
      ["localhost", "tls_only", "sslmode=verify-full", { NODE_EXTRA_CA_CERTS: ca }],
      ["localhost", "tls_only", "sslrootcert=system", { NODE_EXTRA_CA_CERTS: ca }],
      ["localhost", "tls_only", "", { PGSSLMODE: "verify-full", PGSSLROOTCERT: ca }],
      ["localhost", "ceo", `sslmode=verify-full&sslrootcert=${ca}&${mine}`],
      ["localhost", "scram:a b@c", "sslmode=require&channel_binding=require"],
    ])(
      "at %s is served, migrated, backed up and restored as %s with '%s' %j",
      async (host, who, query, more = {}) => {
        const empty = new URL(await createDatabase(server.url)).pathname.slice(1);
        const DATABASE_URL = `postgres://${who}@${host}:${port}/${empty}?${query}`;
        const settings = { ...besideDatabaseUrl, BACKUP_PASSPHRASE: "correct horse battery staple", ...more };
        const service = await Service.make({ ...settings, DATABASE_URL });
        expect((await service.adminJson("migrate")).taken).not.toEqual([]);
        await service.adminJson("account", "add", "ceo@example.com");
        const file = join(createFolder(), "office.backup");
        await service.adminJson("backup", file);
        const other = new URL(await createDatabase(server.url)).pathname.slice(1);
        const restored = await Service.make({
          ...settings,
          DATABASE_URL: DATABASE_URL.replace(empty, other),
        });
        await restored.adminJson("restore", file);
        await restored.run();
        await restored.ready();
        expect(await restored.check("store")).toMatchObject({ works: true, detail: "PostgreSQL answers" });
        expect((await restored.adminJson<unknown[]>("account", "list")).length).toBe(1);
        expect(await restored.stop()).toBe(0);
      },
    );

    it("with a certificate that is not to be trusted is refused by each command, and not served", async () => {
      const DATABASE_URL = address("localhost", `sslmode=verify-full&sslrootcert=${stranger}`);
      const service = await Service.start({
        ...besideDatabaseUrl,
        DATABASE_URL,
        BACKUP_PASSPHRASE: "p".repeat(16),
      });
      const file = join(own, "office.backup");
      for (const command of [["migrate"], ["backup", file], ["account", "list"]]) {
        const { code, stderr } = await operate(command, service.environment);
        expect([command, code]).toEqual([command, 1]);
        expect(stderr).toMatch(unknown);
      }
      expect((await service.ask("/ready")).status).toBe(503);
      await eventually(() => expect(service.log).toMatch(unknown));
      await service.stop({ expectErrors: true });
    });
  },
);
