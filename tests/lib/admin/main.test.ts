import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { effectInWords } from "@/lib/admin/act";
import { planActs } from "@/lib/admin/plan";
import { listCommands } from "@/lib/admin/run-command";
import { borrowService } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { operate } from "@/tests/support/operator";
import { Service } from "@/tests/support/service";

describe.each(engines)("npm run admin on $name, next to the running server", async (engine) => {
  const { stage, service } = await borrowService(engine, { isAlone: true });

  it("follows the audit from a cursor, oldest first, a line of JSON for each change", async () => {
    for (const name of ["one", "two", "three"])
      await service.adminJson("account", "add", `${name}@follow.example.com`);
    await stage.query("UPDATE audit_entries SET at_ms = at_ms - 60000");
    const until = new Date(Date.now() - 10_000).toISOString();
    const follow = async (cursor: string) => {
      const { code, stdout } = await service.admin("audit", "follow", "--after", cursor, "--until", until);
      expect(code).toBe(0);
      const lines = stdout.split("\n").filter(Boolean);
      return lines.map((line): { cursor: string; whom: string; what: string; at: string } =>
        JSON.parse(line),
      );
    };
    const all = (await follow("0.0")).filter(({ whom }) => whom?.endsWith("@follow.example.com"));
    expect(all.map(({ whom, what }) => [what, whom])).toEqual(
      ["one", "two", "three"].map((name) => ["account add", `${name}@follow.example.com`]),
    );
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort());
    const rest = await follow(all[1]?.cursor ?? "");
    expect(rest[0]).toEqual(all[2]);
    expect((await service.admin("audit", "follow", "--after", "yesterday")).code).toBe(2);
    for (const { whom } of all) await service.admin("--yes", "account", "delete", whom);
  });

  it("follows the audit past no change that another instance commits late", async () => {
    const nowMs = Date.now();
    const clock = makeClock(nowMs); // which stands still however long the command takes to start
    const write = (id: string, atMs: number) =>
      stage.query(
        `INSERT INTO audit_entries (id, at_ms, who, what) VALUES ('${id}', ${atMs}, 'service', 'late')`,
      );
    await write("follow-settled", nowMs - 10_000);
    await write("follow-new", nowMs);
    const child = spawn(
      "node",
      [
        ...["dist/admin/main.js", "audit", "follow"],
        ...["--after", `${nowMs - 10_000}.follow-a`, "--until", new Date(nowMs + 1).toISOString()],
      ],
      { env: { ...process.env, ...service.environment, ...clock.environment } },
    );
    const told: string[] = [];
    createInterface(child.stdout).on("line", (line) => told.push(JSON.parse(line).cursor.split(".")[1]));
    const ended = once(child, "exit");
    await eventually(() => expect(told).toContain("follow-settled"));
    await write("follow-late", nowMs - 1);
    clock.pass(10_000);
    await ended;
    expect(told.filter((id) => id.startsWith("follow-"))).toEqual([
      "follow-settled",
      "follow-late",
      "follow-new",
    ]);
    await stage.query("DELETE FROM audit_entries WHERE what = 'late'");
  });

  it("adds, shows, changes, lists and deletes an account", async () => {
    const given = ["--trial-days", "3", "--credits", "2.5"];
    const added = await service.adminJson("account", "add", "New@Example.com", ...given);
    expect(added).toEqual({
      id: expect.stringMatching(/^acc_[\w-]{22}$/),
      email: "new@example.com",
      subject: expect.stringMatching(/^user_\w+$/),
      status: "trial",
      plan: "trial",
      trialEndsAt: expect.any(String),
      assistantLimit: null,
      features: [],
      limits: {},
      credits: 2.5,
      heldCredits: 0,
      reference: null,
      createdAt: expect.any(String),
    });
    const days = (Date.parse(String(added.trialEndsAt)) - Date.now()) / (24 * 60 * 60 * 1000);
    expect(days).toBeCloseTo(3, 2);
    expect(await service.adminJson("account", "show", "NEW@example.com")).toEqual({ ...added, passkeys: 0 });

    const terms = ["--plan", "licensed", "--assistant-limit", "4", "--credits", "10"];
    const subject = "user_2clerk";
    const change = [...terms, "--subject", subject];
    const changed = await service.adminJson("account", "set", "new@example.com", ...change);
    expect(changed).toEqual({
      ...added,
      status: "licensed",
      plan: "licensed",
      trialEndsAt: null,
      assistantLimit: 4,
      limits: { assistants: 4 },
      credits: 10,
      subject,
    });
    expect(await service.adminJson("account", "list")).toEqual([changed]);
    expect(await service.adminJson("account", "delete", "new@example.com")).toEqual({
      deleted: "new@example.com",
    });
    expect(await service.adminJson("account", "list")).toEqual([]);
  });

  it("gives a new account the default trial and the onboarding mails", async () => {
    const added = await service.adminJson("account", "add", "plain@example.com");
    const madeAt = Date.parse(String(added.createdAt));
    const dayMs = 24 * 60 * 60 * 1000;
    expect(Date.parse(String(added.trialEndsAt)) - madeAt).toBe(14 * dayMs);
    type Mails = { dueAt: string; state: string }[];
    const mails = await service.adminJson<Mails>("emails", "list", "plain@example.com");
    expect(Object.keys(mails[0] ?? {})).toEqual(["id", "kind", "dueAt", "state"]);
    expect(new Set(mails.slice(1).map(({ state }) => state))).toEqual(new Set(["scheduled"]));
    expect(mails.map(({ dueAt }) => (Date.parse(dueAt) - madeAt) / dayMs)).toEqual([0, 1, 4, 8, 13]);
  });

  it("keeps a ledger, and accepts negative amounts as plain arguments", async () => {
    await service.adminJson("account", "add", "ledger@example.com", "--credits", "10");
    const entry = ["-2.5", "--reason", "a refund taken back"];
    const spent = await service.adminJson("credits", "add", "ledger@example.com", ...entry);
    expect(spent).toEqual({ email: "ledger@example.com", credits: 7.5 });
    await service.adminJson("account", "set", "ledger@example.com", "--credits", "9");
    const unbought = {
      at: expect.any(String),
      price: null,
      checkout: null,
      paid: null,
      currency: null,
      backend: null,
      reference: null,
    };
    expect(await service.adminJson("credits", "history", "ledger@example.com")).toEqual([
      { ...unbought, credits: 10, reason: "given with the account", balance: 10 },
      { ...unbought, credits: -2.5, reason: "a refund taken back", balance: 7.5 },
      { ...unbought, credits: 1.5, reason: "set by the operator", balance: 9 },
    ]);
  });

  it("sets, shows and clears the banner", async () => {
    const times = ["--starts", "2031-01-01", "--ends", "2031-01-02T10:00:00+02:00"];
    const banner = {
      kind: "promo",
      message: "Hello",
      startsAt: "2031-01-01T00:00:00.000Z",
      endsAt: "2031-01-02T08:00:00.000Z",
    };
    expect(await service.adminJson("banner", "set", "promo", "Hello", ...times)).toEqual({ banner });
    expect(await service.adminJson("banner", "show")).toEqual({ banner });
    expect(await service.adminJson("banner", "clear")).toEqual({ banner: null });
    expect(await service.adminJson("banner", "show")).toEqual({ banner: null });
  });

  it("lists who changed what, also for one person", async () => {
    await service.adminJson("account", "add", "watched@example.com", "--plan", "hobby");
    await service.adminJson("credits", "add", "watched@example.com", "2");
    const entries = await service.adminJson<object[]>("audit", "list", "--of", "Watched@example.com");
    const common = {
      at: expect.any(String),
      who: expect.stringMatching(/^operator/),
      whom: "watched@example.com",
    };
    expect(entries).toEqual([
      {
        ...common,
        what: "credits add",
        before: { credit_thousandths: 0 },
        after: { credit_thousandths: 2000, reason: "entered by the operator" },
      },
      { ...common, what: "account add", before: null, after: expect.objectContaining({ plan: "hobby" }) },
    ]);
    const { stdout } = await service.admin("audit", "list", "--limit", "1");
    expect(stdout).toMatch(/^at +who +what +whom +changes\n.+credits add/);
    expect(stdout).toMatch(/\nThere may be older entries: use a --limit above 1\.\n$/);
    const all = await service.admin("audit", "list", "--of", "watched@example.com");
    expect(all.stdout).toMatch(/ created at \d{4}-\d\d-\d\dT[\d:.]{12}Z/);
    await service.adminJson("account", "delete", "watched@example.com");
  });

  it("prints the command for the next page of a list, with its filters", async () => {
    for (const name of ["ann", "bob"]) {
      await service.adminJson("account", "add", `${name}@pages.example.com`, "--trial-ends", "2026-01-31");
    }
    const filters = ["--plan", "trial", "--ended", "--containing", "pages.example.com", "--limit", "1"];
    const first = await service.admin("account", "list", ...filters);
    expect(first.stdout.trimEnd().split("\n").at(-1)).toBe(
      "There may be more: account list --plan trial --ended --containing pages.example.com --limit 1 --after ann@pages.example.com",
    );
    const next = await service.admin("account", "list", ...filters, "--after", "ann@pages.example.com");
    expect(next.stdout).toMatch(/\nbob@pages\.example\.com +trial, ended/);
    for (const name of ["ann", "bob"])
      await service.adminJson("account", "delete", `${name}@pages.example.com`);
  });

  it("creates a token that is valid for one hour", async () => {
    await service.adminJson("account", "add", "token@example.com");
    const { token, expiresAt } = await service.adminJson<Record<string, string>>(
      "token",
      "token@example.com",
    );
    const claims = JSON.parse(Buffer.from(token?.split(".")[1] ?? "", "base64url").toString());
    expect(claims.exp - claims.iat).toBe(3600);
    expect(claims).not.toHaveProperty("azp");
    expect(expiresAt).toBe(new Date(claims.exp * 1000).toISOString());
  });

  it("checks what works", async () => {
    const findings = await service.adminJson<{ what: string; works: boolean }[]>("check");
    expect(findings.map(({ what, works }) => [what, works])).toEqual([
      ["settings", true],
      ["store", true],
      ["disk", true],
      ["backup", true],
      ["counters", true],
      ["mail", true],
      ["mails", true],
      ["client address", true],
      ["sign-in", true],
      ["passkeys", true],
      ["webhooks", true],
      ["deliveries", true],
      ["waitlist", true],
      ["signing keys", true],
      ["secrets", true],
      ["retirements", true],
      ["agents", true],
      ["contact", true],
    ]);
  });

  describe("exits with 1 and one line, and changes nothing, for", () => {
    it.each([
      [
        "an account twice",
        ["account", "add", "taken@example.com"],
        "invalid_request: There is already an account with this email.",
      ],
      [
        "a subject twice",
        ["account", "add", "b@example.com", "--subject", "user_taken"],
        "invalid_request: There is already an account with this subject.",
      ],
      [
        "an account that does not exist",
        ["account", "set", "gone@example.com", "--plan", "hobby"],
        "not_found: There is no account with this email.",
      ],
      [
        "a trial on a licensed account",
        ["account", "set", "taken@example.com", "--trial-days", "3"],
        "invalid_request: A licensed account has no trial.",
      ],
      [
        "an overdraft",
        ["credits", "add", "taken@example.com", "-5.001"],
        "invalid_request: The balance cannot go below 0 or above 1000000000000 credits.",
      ],
      [
        "a banner that ends before it starts",
        ["banner", "set", "promo", "x", "--starts", "2027-01-02", "--ends", "2027-01-01"],
        "invalid_request: The banner would end before it starts.",
      ],
      [
        "a banner whose end is over",
        ["banner", "set", "promo", "x", "--ends", "2026-01-01"],
        "invalid_request: The banner would never show: 2026-01-01T00:00:00.000Z is over.",
      ],
    ])("%s", async (_, command, fault) => {
      const terms = ["--plan", "licensed", "--credits", "5", "--subject", "user_taken"];
      await service.admin("account", "add", "taken@example.com", ...terms);
      const before = await snapshot();
      const { code, stdout, stderr } = await service.admin(...command);
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(stderr).toContain(fault);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(await snapshot()).toEqual(before);
    });
  });

  /** All rows that a command could change; the state of a mail belongs to the runner. */
  async function snapshot() {
    const tables = ["accounts", "credit_entries", "site_banner", "local_sessions"];
    const queries = tables.map((table) => `SELECT * FROM ${table} ORDER BY 1`);
    queries.push("SELECT id, account_id, kind, due_at_ms FROM onboarding_emails ORDER BY 1");
    return Promise.all(queries.map((query) => stage.query(query)));
  }
});

describe("npm run admin on its own", () => {
  it.each([
    [["account", "add"]],
    [["account", "add", "not-an-email"]],
    [["account", "add", "a@example.com", "--plan", "Platinum"]],
    [["account", "add", "a@example.com", "--trial-ends", "2027-02-30"]],
    [["account", "add", "a@example.com", "--trial-ends", "2027-01-01", "--trial-days", "3"]],
    [["account", "add", "a@example.com", "--assistant-limit", "-1"]],
    [["account", "add", "a@example.com", "--credits", "1.2345"]],
    [["account", "add", "a@example.com", "--subject", "mch_1"]],
    [["account", "add", "a@example.com", "--frobnicate"]],
    [["credits", "add", "a@example.com", "0"]],
    [["banner", "set", "promo", "two\nlines"]],
  ])("exits with 2 and one line for the invalid command %j", async (command) => {
    const { code, stdout, stderr } = await (await Service.make()).admin(...command);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it.each([
    [["account", "list"], { npm_config_limit: "5" }, "error: npm has kept --limit for itself. "],
    [["account", "add", "a@example.com", "trial"], {}, "error: too many arguments for 'add'. Expected 1"],
  ])("says that npm keeps options without -- before them: %j with %j", async (command, kept, said) => {
    const { environment } = await Service.make();
    const { code, stderr } = await operate(command, {
      ...environment,
      npm_lifecycle_event: "admin",
      ...kept,
    });
    expect(stderr).toContain(said);
    expect(stderr).toMatch(/Write options behind --, as in npm run -s admin -- account list --limit 5, or /);
    expect(code).toBe(2);
  });

  it("exits with 0 on success, 1 when refused, and 2 when the command is invalid", async () => {
    const service = await Service.make({ SIGN_IN: "local" });
    await service.admin("migrate");
    for (const [code, ...args] of [
      [0, "account", "list"],
      [1, "token", "gone@example.com"],
      [2, "nonsense"],
    ] as const) {
      const outcome = await service.execute(["dist/admin/main.js", ...args]);
      expect(outcome).toEqual({ ...(await service.admin(...args)), code });
    }
  });

  it("says below the words of a command whom it reaches and whether it can be taken back", async () => {
    const service = await Service.make();
    const { stdout } = await service.admin("plan", "retire", "--help");
    const read = stdout.replace(/\s+/g, " ");
    expect(read).toContain(
      `${planActs.retire.words} ${effectInWords(planActs.retire.effect ?? expect.fail("no effect"))}`,
    );
    expect((await service.admin("plan", "--help")).stdout).not.toContain("It can be offered again");
  });

  it("describes every command with --help, with an example that names it", { timeout: 180_000 }, async () => {
    const service = await Service.make();
    const leaves: string[] = [];
    const walk = async (words: string[]): Promise<void> => {
      const { stdout } = await service.admin(...words, "--help");
      const [, commands = ""] = /^Commands:\n(.*)/ms.exec(stdout) ?? [];
      const under = [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name);
      for (const name of under) if (name !== "help") await walk([...words, name]);
      if (under.length > 0) return;
      leaves.push(words.join(" "));
      expect(stdout).toContain(`Examples:\n  npm run -s admin -- ${words.join(" ")}`);
    };
    await walk([]);
    expect(leaves.length).toBeGreaterThan(30);
  });

  it("has every command in commands.md, which -u writes", async () => {
    const rows = listCommands().map(({ usage, words }) => `| \`${usage}\` | ${words} |`);
    const table = ["| command | what it does |", "| --- | --- |", ...rows].join("\n");
    await expect(`# The commands\n\n${table}\n`).toMatchFileSnapshot("../../../lib/admin/commands.md");
  });

  it("loads neither PostgreSQL's library nor those of mail and shared counters on the embedded store", async () => {
    const service = await Service.make({ SIGN_IN: "local" });
    await service.admin("migrate");
    const command = ["--import=./tests/support/loaded.mjs", "dist/admin/main.js", "account", "list"];
    const { code, stderr } = await service.execute(command);
    expect(code).toBe(0);
    expect(stderr).toContain("loaded node:sqlite\n");
    const all = readdirSync("dist/chunks").filter((file) => file.endsWith(".js"));
    const loaded = new Set(stderr.match(/(?<=^loaded \S*\/)[\w-]+\.js$/gm));
    const parts = all.filter((name) => loaded.has(name));
    for (const library of [/^pool-/, /^hosts-/, /^nodemailer-/]) {
      expect(all).toContainEqual(expect.stringMatching(library));
      expect(parts).not.toContainEqual(expect.stringMatching(library));
    }
    const sizeOf = (files: string[]) =>
      files.reduce((bytes, file) => bytes + statSync(`dist/chunks/${file}`).size, 0);
    // Node compiles what it loads, which was a third of a command's time.
    expect(sizeOf(parts)).toBeLessThan(sizeOf(all) / 3);
  });

  it("makes no store where none is, unless it is told to", async () => {
    const service = await Service.make({ SIGN_IN: "local" });
    const file = join(service.dataDir, "store.sqlite");
    expect(await service.admin("account", "add", "ceo@example.com")).toEqual({
      code: 1,
      stdout: "",
      stderr: `not_found: There is no store at ${file}. Give this command the settings of the running service, or make a store there with 'migrate'.\n`,
    });
    expect(existsSync(file)).toBe(false);
    expect(await service.admin("migrate")).toMatchObject({ code: 0, stderr: "" });
    expect((await service.admin("account", "add", "ceo@example.com")).code).toBe(0);
  });

  it("says at a terminal which store it uses", async () => {
    const service = await Service.make({ SIGN_IN: "local" });
    await service.admin("migrate");
    const command = "node dist/admin/main.js account list";
    const options = { env: service.environment as NodeJS.ProcessEnv, encoding: "utf8" } as const;
    const { stdout } = await promisify(execFile)("script", ["-qec", command, "/dev/null"], options);
    expect(stdout.split("\r\n")[0]).toBe(`store: ${join(service.dataDir, "store.sqlite")}`);
  });

  it("prints a line for each fault of the settings", async () => {
    const service = await Service.make({ LOG_LEVEL: "loud", PORT: "x" });
    const { code, stderr } = await service.admin("account", "list");
    expect([code, stderr.split("\n").length]).toEqual([1, 3]);
    expect(stderr).toContain("LOG_LEVEL: must be debug, info, warn or error\n");
  });

  it("refuses a token unless sign-in is local", async () => {
    const service = await Service.make({ SIGN_IN: "none" });
    await service.admin("migrate");
    const { code, stderr } = await service.admin("token", "a@example.com");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^not_configured: /);
  });

  it("reports invalid settings, and a store and a counter that do not answer", async () => {
    const service = await Service.make();
    Object.assign(service.environment, { LOG_LEVEL: "loud" });
    expect(await service.admin("account", "list")).toEqual({
      code: 1,
      stdout: "",
      stderr: "LOG_LEVEL: must be debug, info, warn or error\n",
    });
    Object.assign(service.environment, {
      LOG_LEVEL: "info",
      APP_SECRET: "s".repeat(32),
      APP_URL: "https://office.example.com",
      DATABASE_URL: "postgres://127.0.0.1:1/x",
      UPSTASH_REDIS_REST_URL: "http://127.0.0.1:2",
      UPSTASH_REDIS_REST_TOKEN: "t",
    });
    const { code, stdout } = await service.admin("--json", "check");
    expect(code).toBe(1);
    const findings: { what: string; works: boolean }[] = JSON.parse(stdout);
    expect(findings.filter(({ works }) => !works).map(({ what }) => what)).toEqual([
      "store",
      "counters",
      "client address",
    ]);
    const { code: refused, stderr } = await service.admin("account", "list");
    expect([refused, stderr]).toEqual([1, expect.stringMatching(/^unavailable: /)]);
  });

  it("begins no new store in the place of one that lost its content, and goes on once it is restored", async () => {
    const service = await Service.make({ SIGN_IN: "local" });
    await service.adminJson("migrate");
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const file = join(service.dataDir, "store.sqlite");
    const kept = readFileSync(file);
    writeFileSync(file, "");
    const words = `${file} is empty: restore a backup in its place, or delete it to begin anew`;
    expect(await service.admin("account", "list")).toEqual({
      code: 1,
      stdout: "",
      stderr: `unavailable: ${words}\n`,
    });
    expect(await service.check("store")).toMatchObject({ works: false, detail: words });
    const started = await Service.start(service.environment);
    expect((await started.ask("/ready")).status).toBe(503);
    expect(statSync(file).size).toBe(0);
    writeFileSync(file, kept);
    await eventually(async () => expect((await started.ask("/ready")).status).toBe(200));
    expect(await started.statusFor(await service.token("ceo@example.com"))).toBe(200);
    await started.stop();
  });
});

it("completion refuses another shell, and a name that is none of a program", async () => {
  const service = await Service.make({});
  for (const odd of [["tcsh"], ["bash", "--for", "a; rm x"]])
    expect(await service.admin("completion", ...odd)).toMatchObject({ code: 1, stdout: "" });
});
