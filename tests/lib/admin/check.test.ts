import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, statfsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventually, queryOnce } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { serve } from "@/tests/support/loopback";
import { mountInMemory } from "@/tests/support/mount";
import type { Outcome } from "@/tests/support/operator";
import { startOutside } from "@/tests/support/outside";
import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";
import { startRelay } from "@/tests/support/smtp-inbox";

/** Root may open every file regardless of its mode, so the tests drop the two capabilities that allow it. */
const asUser = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];

const pathsIn = (folder: string) => [
  folder,
  ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
];

describe.each(engines)("check on $name", (engine) => {
  let stage: Stage;
  let environment: Environment;
  beforeEach(async () => {
    stage = await engine.prepare();
    const service = await Service.make(stage.environment);
    await service.adminJson("account", "add", "ceo@example.com");
    environment = service.environment;
  });
  afterEach(async () => {
    for (const path of pathsIn(environment.DATA_DIR ?? "")) chmodSync(path, 0o700);
    await stage.clear();
  });

  /** Makes the store read-only: its files, or every transaction. */
  async function makeReadOnly(): Promise<void> {
    const { DATABASE_URL, DATA_DIR = "" } = environment;
    if (DATABASE_URL) {
      const name = new URL(DATABASE_URL).pathname.slice(1);
      await stage.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      return;
    }
    for (const path of pathsIn(DATA_DIR)) chmodSync(path, 0o555);
  }

  /** Runs a command as a user to whom file modes apply. */
  function operateAsUser(...args: string[]): Promise<Outcome> {
    const [program = "", ...parameters] = [...asUser, "node", "dist/admin/main.js", ...args];
    const options = { env: environment as NodeJS.ProcessEnv };
    return new Promise((resolve) => {
      execFile(program, parameters, options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
  }

  it("exits with 1, ✗ and the first error when the store can be read but not written", async () => {
    expect((await operateAsUser("check")).code).toBe(0);
    await stage.open(); // as a server does: SQLite reads next to a log, and cannot make one in a read-only folder
    await makeReadOnly();
    expect((await operateAsUser("account", "show", "ceo@example.com")).code).toBe(0);
    const { code, stdout } = await operateAsUser("check");
    const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
    expect([code, mark]).toEqual([1, "✗"]);
    expect(said).toMatch(
      /attempt to write a readonly database|cannot execute INSERT in a read-only transaction/,
    );
    expect(remedy).toMatch(/is writable|accept writes/);
    const refused = await operateAsUser("account", "add", "new@example.com");
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
  });

  if (engine.name === "PostgreSQL")
    it("says which rights the role lacks", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      const role = `clerk_of_${url.pathname.slice(1)}`;
      await stage.query(`CREATE ROLE ${role} LOGIN`);
      await stage.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
      await stage.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
      await stage.query(`REVOKE SELECT ON accounts FROM ${role}`);
      await stage.query(`REVOKE UPDATE, DELETE ON holds FROM ${role}`);
      url.username = role;
      environment = { ...environment, DATABASE_URL: url.href };
      const { code, stdout } = await operateAsUser("check");
      const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
      expect([code, mark]).toEqual([1, "✗"]);
      expect(said).toBe(
        "PostgreSQL answers, but the role lacks SELECT on accounts; SELECT on events_seq_seq; UPDATE, DELETE on holds",
      );
      expect(remedy).toContain(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES and USAGE, SELECT ON ALL SEQUENCES to it",
      );
      await stage.query(`DROP OWNED BY ${role}`);
      await stage.query(`DROP ROLE ${role}`);
    });

  if (engine.name === "PostgreSQL")
    it("says that strangers may reach the tables by a provider's HTTP API, from which 'migrate' and a start take them", async () => {
      const mayRead = async () =>
        (await stage.query("SELECT has_table_privilege('anon', 'accounts', 'SELECT') AS may"))[0]?.may;
      // As Supabase's default privileges do.
      const give = () => stage.query("GRANT ALL ON ALL TABLES IN SCHEMA public TO anon");
      await stage.query("CREATE ROLE anon");
      await stage.query("CREATE TABLE of_another_program ()");
      await give();
      const { code, stdout } = await operateAsUser("check");
      const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
      expect([code, mark]).toEqual([1, "✗"]);
      expect(said).toMatch(/^the roles anon may use our tables/);
      expect(remedy).toMatch(/^Run 'migrate' as the owner/);
      expect([(await operateAsUser("migrate")).code, await mayRead()]).toEqual([0, false]);
      expect((await operateAsUser("check")).stdout).toMatch(/^✓ store +PostgreSQL answers$/m);
      await give();
      const service = await Service.start(environment);
      await service.ready();
      await service.stop();
      expect(service.log).toContain("strangers could reach the store");
      expect(await mayRead()).toBe(false);
      const others = "SELECT has_table_privilege('anon', 'of_another_program', 'SELECT') AS may";
      expect(await stage.query(others)).toMatchObject([{ may: true }]);
      await stage.query("DROP OWNED BY anon");
      await stage.query("DROP ROLE anon");
    });

  if (engine.name === "PostgreSQL")
    it("says that a move by logical replication left the sequence of events behind, which 'migrate' and a start raise", async () => {
      const set = async (plan: string) =>
        (await operateAsUser("account", "set", "ceo@example.com", "--plan", plan)).code;
      // A write that an engine undoes and repeats uses up a number each time.
      const leaveBehind = () =>
        stage.query("SELECT setval('events_seq_seq', (SELECT min(seq) FROM events), false)");
      for (const plan of ["licensed", "hobby", "licensed", "hobby"]) expect(await set(plan)).toBe(0);
      await leaveBehind();
      expect(await set("licensed")).toBe(1);
      const { code, stdout } = await operateAsUser("check");
      const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
      expect([code, mark]).toEqual([1, "✗"]);
      expect(said).toMatch(/^the sequence of events is behind its table/);
      expect(remedy).toMatch(/^Run 'migrate' as the owner/);
      expect((await operateAsUser("migrate")).code).toBe(0);
      expect((await operateAsUser("check")).stdout).toMatch(/^✓ store +PostgreSQL answers$/m);
      expect(await set("licensed")).toBe(0);
      await leaveBehind();
      const service = await Service.start(environment);
      await service.ready();
      expect(await set("hobby")).toBe(0);
      await service.stop();
      expect(service.log).toContain("the sequence of events was behind its table");
    });

  if (engine.name === "PostgreSQL")
    it("says what a role needs that may make no tables, or has no schema for them", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      url.pathname += "_without_tables";
      const name = url.pathname.slice(1);
      const role = `maker_of_${name}`;
      const ofStage = new URL(url);
      await stage.query(`CREATE ROLE ${role} LOGIN`);
      await stage.query(`CREATE DATABASE ${name}`);
      url.username = role;
      environment = { ...environment, DATABASE_URL: url.href };
      const remedy = async () => /^✗ store .*\n +→ (.*)$/m.exec((await operateAsUser("check")).stdout)?.[1];
      expect(await remedy()).toBe(
        "GRANT USAGE, CREATE ON SCHEMA public to this role, which makes the tables; or run 'migrate' as a role that may.",
      );
      await stage.query(`ALTER ROLE ${role} SET search_path = "Our Office"`);
      expect(await remedy()).toBe(
        "Create the schema that this role's search_path names: CREATE SCHEMA public.",
      );
      await queryOnce(ofStage.href, `CREATE SCHEMA "Our Office" AUTHORIZATION ${role}`);
      expect((await operateAsUser("check")).stdout).toMatch(/^✓ store +PostgreSQL answers$/m);
      await stage.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await stage.query(`DROP ROLE ${role}`);
    });

  if (engine.name === "PostgreSQL")
    it("finds no fault where nothing has made DATA_DIR yet", async () => {
      environment = { ...environment, DATA_DIR: `${environment.DATA_DIR}/unmade` };
      expect((await operateAsUser("check")).stdout).toMatch(
        /^✓ disk +nothing was written to \S+\/unmade yet$/m,
      );
    });

  if (engine.name === "PostgreSQL")
    it("says of a database in another encoding than UTF-8 that it cannot store every name", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      url.pathname += "_in_latin1";
      const name = url.pathname.slice(1);
      await stage.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
      environment = { ...environment, DATABASE_URL: url.href };
      expect((await operateAsUser("migrate")).code).toBe(0);
      const { code, stdout } = await operateAsUser("check");
      const [, mark, said] = /^(.) store +(.*)$/m.exec(stdout) ?? [];
      expect([code, mark]).toEqual([1, "✗"]);
      expect(said).toBe("the database is in LATIN1, which lacks most of what people write");
      await stage.query(`DROP DATABASE ${name}`);
    });

  if (engine.name === "PostgreSQL")
    it("says of a database whose collation is of another version that its indexes may not find accounts, and what mends it", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      url.pathname += "_of_icu";
      const name = url.pathname.slice(1);
      const icu = "ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'";
      await stage.query(`CREATE DATABASE ${name} ${icu} TEMPLATE template0`);
      environment = { ...environment, DATABASE_URL: url.href };
      expect((await operateAsUser("migrate")).code).toBe(0);
      expect((await operateAsUser("check")).stdout).toMatch(/^✓ store +PostgreSQL answers$/m);
      await stage.query(`UPDATE pg_database SET datcollversion = '1' WHERE datname = '${name}'`);
      const { code, stdout } = await operateAsUser("check");
      const [, said, remedy = ""] =
        /^✗ store +(.*)\n +→ Stop the service.*: (REINDEX.*)$/m.exec(stdout) ?? [];
      expect([code, said]).toEqual([1, expect.stringContaining("were made with version 1 of its collation")]);
      for (const statement of remedy.split(/(?<=;) /)) await queryOnce(url.href, statement);
      expect((await operateAsUser("check")).stdout).toMatch(/^✓ store +PostgreSQL answers$/m);
      await stage.query(`DROP DATABASE ${name}`);
    });

  if (engine.name === "PostgreSQL")
    it("says once that PostgreSQL is away, and what fits the cause", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      const causes: [change: Partial<URL>, remedy: string][] = [
        [{ port: "1" }, "Start PostgreSQL, or correct the host and port in DATABASE_URL."],
        [{ hostname: "db.invalid" }, "Correct the host in DATABASE_URL: DNS does not know it here."],
        [{ username: "no_such_role" }, "Compare the user and password in DATABASE_URL"],
        [{ pathname: "/no_such_database" }, "Create the database, or correct its name in DATABASE_URL."],
      ];
      for (const [change, remedy] of causes) {
        const DATABASE_URL = Object.assign(new URL(url), change).href;
        environment = { ...environment, DATABASE_URL, CONNECT_CLIENTS: "none" };
        const { code, stdout } = await operateAsUser("--json", "check");
        const findings: { what: string; level: string; detail: string; remedy?: string }[] =
          JSON.parse(stdout);
        const faults = findings.filter(({ level }) => level === "fault").map(({ what }) => what);
        expect([code, faults]).toEqual([1, ["store"]]);
        expect(findings.find(({ what }) => what === "store")?.remedy).toContain(remedy);
        expect(findings.at(-1)).toMatchObject({
          what: "not checked",
          detail: expect.stringContaining("webhooks, deliveries, waitlist"),
          remedy: "Fix the store first.",
        });
      }
    });

  it("knows when the last backup was made", async () => {
    const service = await Service.make({ ...environment, BACKUP_PASSPHRASE: "correct horse battery staple" });
    expect(await service.check("backup")).toMatchObject({ level: "warning", detail: "none was made" });
    const file = join(createFolder(), "office.backup");
    expect((await service.admin("backup", file)).code).toBe(0);
    const made = { level: "fine", detail: expect.stringMatching(/^the last was made \d{4}-/) };
    expect(await service.check("backup")).toMatchObject(made);
    await stage.query(`UPDATE audit_entries SET at_ms = at_ms - ${50 * 60 * 60_000} WHERE what = 'backup'`);
    expect(await service.check("backup")).toMatchObject({
      level: "warning",
      remedy: expect.stringContaining("timer"),
    });
  });
});

describe("check", () => {
  const check = async (what: string, environment: Environment = {}) =>
    (await Service.make({ SIGN_IN: "local", ...environment })).check(what);

  it("warns while there is no address for questions and security.txt", async () => {
    expect(await check("contact")).toMatchObject({ level: "warning" });
    const detail = expect.stringContaining("help@example.com");
    const contact = await check("contact", { SUPPORT_EMAIL: "help@example.com" });
    expect(contact).toMatchObject({ level: "fine", detail });
  });

  it.each([
    [90, "behind"],
    [-90, "ahead of"],
  ])("sees that the counters' clock is off by %i seconds", async (offSeconds, words) => {
    // Of a Redis only the answers to both scripts, because no clock of one can be set alone.
    const upstash = await serve(async (incoming, outgoing) => {
      const commands = JSON.parse(await text(incoming)) as string[][];
      const seconds = String(Math.floor(Date.now() / 1000) + offSeconds);
      const answers = commands.map(([, script = ""]) => ({
        result: script.includes("PEXPIRE") ? [0, 0] : seconds,
      }));
      outgoing.end(JSON.stringify(answers));
    });
    onTestFinished(upstash.stop);
    const environment = {
      UPSTASH_REDIS_REST_URL: upstash.url,
      UPSTASH_REDIS_REST_TOKEN: "x",
      APP_SECRET: "s".repeat(32),
    };
    expect(await check("counters", environment)).toMatchObject({
      works: false,
      detail: expect.stringMatching(new RegExp(`^this clock is (89|90|91) seconds ${words} Upstash's$`)),
      remedy: "Set the clocks of both machines by NTP.",
    });
  });

  it("says why Upstash does not count", async () => {
    const why = "ERR max requests limit exceeded. Limit: 500000, Usage: 500000.";
    const upstash = await serve((_, outgoing) => outgoing.writeHead(400).end(JSON.stringify({ error: why })));
    onTestFinished(upstash.stop);
    const environment = {
      UPSTASH_REDIS_REST_URL: upstash.url,
      UPSTASH_REDIS_REST_TOKEN: "x",
      APP_SECRET: "s".repeat(32),
    };
    expect(await check("counters", environment)).toMatchObject({
      works: false,
      detail: `Upstash answered 400: ${why}`,
    });
  });

  it("counts the proxies that a request meets, and says what another number means", async () => {
    const port = await reservePort();
    const environment = { APP_URL: `http://localhost:${port}`, TRUSTED_PROXY_HOPS: "1" };
    const service = await Service.start(environment);
    let forward = (sent: string): string => sent;
    const proxy = createServer(({ url = "", headers }, response) => {
      const to = { port: service.port, path: url, headers: { ...headers } };
      to.headers["x-forwarded-for"] = forward(String(headers["x-forwarded-for"] ?? ""));
      request(to, (answer) => answer.pipe(response)).end();
    }).listen(port);
    onTestFinished(() => void proxy.close());
    const away = expect.stringMatching(/cannot be asked from here, so they were not counted: \S.+$/);
    expect(
      await (await Service.make({ ...service.environment, APP_URL: "http://localhost:1" })).check(
        "client address",
      ),
    ).toMatchObject({
      level: "fine",
      detail: away,
    });
    const expected: [typeof forward, level: string, words: string][] = [
      [(sent) => `${sent}, 127.0.0.1`, "fine", "appended by 1 trusted proxies"],
      [() => "127.0.0.1", "fine", "appended by 1 trusted proxies"],
      [(sent) => `${sent}, 127.0.0.1, 127.0.0.2`, "warning", "clients are counted together"],
      [(sent) => sent, "warning", "a client can choose the address that is counted"],
    ];
    for (const [way, level, words] of expected) {
      forward = way;
      const detail = expect.stringContaining(words);
      expect(await service.check("client address")).toMatchObject({ level, detail });
    }
    const stranger = await service.ask("/ready", {
      headers: { "x-office-probe": "1", "x-forwarded-for": "192.0.2.1" },
    });
    expect(stranger.text).not.toContain("proxies");
    await service.stop();
  });

  it("names settings that differ from a known one by a character", async () => {
    expect(await check("settings", { DATABASE_URI: "postgres://secret@db/office" })).toMatchObject({
      level: "warning",
      remedy: "DATABASE_URI is not a setting: DATABASE_URL is, and is not set",
    });
  });

  it("warns of an embedded store on a share, and so does the log", async () => {
    // A share cannot be mounted here, so the file system says that it is one.
    const answers = `import fs from "node:fs/promises"; import { syncBuiltinESMExports } from "node:module";
      const { statfs } = fs; fs.statfs = async (path) => Object.assign(await statfs(path), { type: 0x6969 }); syncBuiltinESMExports();`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(answers)}`;
    const service = await Service.start({ NODE_OPTIONS });
    await eventually(() => expect(service.log).toContain("SQLite can lose what it has written on a share"));
    const env = { ...process.env, ...service.environment };
    // A process of its own: the one that runs the others' commands has begun without this.
    const { stdout } = spawnSync("node", ["dist/admin/main.js", "check"], { env, encoding: "utf8" });
    expect(stdout).toMatch(/^! disk +\S+ is on NFS, where SQLite can lose what it has written$/m);
    await service.stop();
  });

  const mounted = mountInMemory();
  if (mounted)
    it("warns of a disk that has no room for what the store has", async () => {
      const DATA_DIR = mounted.folder;
      onTestFinished(() => void mounted.remove());
      const service = await Service.make({ SIGN_IN: "local", DATA_DIR });
      await service.adminJson("migrate");
      expect(await service.check("disk")).toMatchObject({
        level: "fine",
        detail: expect.stringMatching(/^0\.1 of 0\.1 GB free/),
      });
      const { bavail, bsize } = statfsSync(DATA_DIR);
      const length = String(bavail * bsize - 500_000);
      execFileSync("fallocate", ["--length", length, join(DATA_DIR, "ballast")]);
      expect(await service.check("disk")).toMatchObject({
        level: "warning",
        remedy: expect.stringContaining("Make room"),
      });
    });

  it("asks Stripe through the proxy that Node is told of", async () => {
    const asked = new Set<string | undefined>();
    const proxy = createServer().on("connect", ({ url }, socket) => {
      asked.add(url);
      socket.on("error", () => {}).end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const { environment } = await Service.make({
      APP_URL: "http://localhost:3000",
      STRIPE_SECRET_KEY: "sk_test_proxied",
      STRIPE_WEBHOOK_SECRET: "whsec_proxied",
    });
    // A process of its own: Node reads these when it starts.
    const proxied = { ...environment, NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const env = proxied as Environment as NodeJS.ProcessEnv;
    await new Promise((resolve) => execFile("node", ["dist/admin/main.js", "check"], { env }, resolve));
    expect(asked).toEqual(new Set(["api.stripe.com:443"]));
  });

  it.each([
    // On Linux, this is a name of loopback that we do not take for one.
    ["smtp://0.0.0.0", { STARTTLS: "502 5.5.1 not implemented" }, "Have the relay offer STARTTLS, or"],
    ["smtps://127.0.0.1", {}, "Write smtp:// for a port like 587 or 25, which begins without TLS"],
    [
      "smtp://office:secret@127.0.0.1",
      { EHLO: "250-relay\r\n250 AUTH LOGIN PLAIN", AUTH: "535 5.7.139 Authentication unsuccessful" },
      "Microsoft 365 takes no password for this mailbox",
    ],
    [
      "smtp://office:secret@127.0.0.1",
      { EHLO: "250-relay\r\n250 AUTH LOGIN PLAIN", AUTH: "535 5.7.8 Bad credentials" },
      "Check the mail settings, and that the mail service accepts our credentials.",
    ],
  ])("says what to do about a relay at %s that answers %j", async (url, replies, remedy) => {
    const relay = await startRelay(replies as Record<string, string>);
    const settings = { SMTP_URL: `${url}:${relay.port}`, EMAIL_FROM: "office@example.com" };
    const found = await check("mail", { APP_URL: "https://office.example.com", ...settings });
    expect(found).toMatchObject({ works: false, remedy: expect.stringContaining(remedy) });
    relay.stop();
  });

  it("fetches the metadata document of an agent, and says who is locked out while it cannot", async () => {
    const document = "https://cursor.com/oauth/mcp-client.json";
    expect(await check("agents")).toMatchObject({
      level: "warning",
      detail: expect.stringMatching(/no network here.*Cursor, Copilot and others.* are locked out$/),
      remedy: expect.stringContaining("set CONNECT_CLIENTS=none"),
    });
    const outside = await startOutside({
      [document]: { client_id: document, redirect_uris: ["https://claude.ai/back"] },
    });
    const readable = { level: "fine", detail: `${document} can be read` };
    expect(await check("agents", outside.environment)).toMatchObject(readable);
    expect(outside.asked).toEqual([document]);
    const off = { level: "fine", detail: "they register themselves" };
    expect(await check("agents", { CONNECT_CLIENTS: "none" })).toMatchObject(off);
    expect(outside.asked).toHaveLength(1);
    await outside.stop();
  });
});
