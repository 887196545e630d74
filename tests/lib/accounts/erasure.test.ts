import { describe, expect, it } from "vitest";
import { accountColumns } from "@/lib/accounts/account-columns";
import { deleteClerkUser, syncClerkUser } from "@/lib/accounts/clerk-user";
import { pseudonymOf } from "@/lib/db/pseudonym";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { readEverything } from "@/tests/support/everything";
import { mailsTo } from "@/tests/support/mailbox";
import { listTextColumns, type TextColumn } from "@/tests/support/text-columns";

const email = "ann.lee+office@example.com";
const friend = "friend@example.com";

/** Columns that contain only our own words, keys and hashes; this test fills them itself. */
const ours =
  /^(?:begun_by|ended_as|told|begun_in|network|renewed_from|challenge|confirmed_by|public_key|rp_id|credential_id|.*_hash|.*_id|id|kid|kind|state|plan|given_plan|paid_plan|own_features|own_limits|given_after|share|issuer|sealed|sealed_key|what|made_in|clerk_session|last_event|swept_event|licence|part|plan_before|status|body_digest|may|closed_as|reverses|status_reason|invoice_status|currency|bought|checkout|dispute|top_up_price|top_up_stopped|type|types|data|lease_by|sealed_secret|sealed_former|time_zone)$/;

/** Columns that contain exactly one address or one subject. */
const identities = ["email", "from_email", "to_email", "subject"];

const jsonColumns = ["before", "after", "payload", "redirect_uris"];

describe.each(engines)("an erased person on $name", async (engine) => {
  // It writes into the first row of each table that is not the person's.
  const stage = await startStage(engine, { isAlone: true });
  const service = await startService(stage.environment);
  const [person] = await Promise.all([
    service.adminJson<{ id: string; subject: string }>("account", "add", email, "--credits", "7"),
    service.adminJson("account", "add", friend, "--credits", "3"),
  ]);
  const link = await service.unsubscribePath(email);

  /** The text in the escapes of every format that may have processed it. */
  function spellingsOf(text: string): string[] {
    const inEscapes = (how: (code: number) => string) => text.replace(/\W/g, (c) => how(c.charCodeAt(0)));
    const hex = (code: number) => code.toString(16).padStart(2, "0");
    return [
      text,
      text.toUpperCase(),
      encodeURIComponent(text),
      encodeURIComponent(encodeURIComponent(text)),
      inEscapes((code) => `%${hex(code)}`),
      inEscapes((code) => `\\u00${hex(code)}`),
      inEscapes((code) => `&#${code};`),
      inEscapes((code) => `&#x${hex(code).toUpperCase()};`),
      inEscapes((code) => `=${hex(code).toUpperCase()}`),
      Buffer.from(text).toString("base64"),
      Buffer.from(JSON.stringify({ login_hint: text })).toString("base64url"),
    ];
  }

  /** Finds the person in a text, with a decoder independent of the service's own. */
  function findPerson(text: string): string[] {
    const names = [email, person.id, person.subject];
    const lower = text.toLowerCase();
    const plain = names.flatMap(spellingsOf).filter((spelling) => lower.includes(spelling.toLowerCase()));
    const runs = text.match(/[\w+/-]{16,20000}/g) ?? [];
    const decoded = runs.flatMap((run) =>
      [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), "base64").toString("latin1")),
    );
    return [...plain, ...names.filter((name) => decoded.some((one) => one.includes(name)))];
  }

  const quote = (value: unknown) => `'${String(value).replaceAll("'", "''")}'`;
  const insert = (table: string, row: Record<string, unknown>) =>
    stage.query(
      `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).map(quote).join(", ")})`,
    );

  /** Adds a row to every table: the person's own, and other people's that mention the person. */
  async function fill(): Promise<void> {
    const soonMs = Date.now() + 600_000;
    await service.submit("/waitlist/join", { email });
    await service.submit("/sign-in/send", { email });
    // Without a long code, the sweep of each minute may delete the row at any time.
    await stage.query(
      `INSERT INTO sign_in_emails (email, long_code_hash, long_code_until_ms) VALUES ('${email}', '', ${soonMs})
        ON CONFLICT (email) DO UPDATE SET long_code_until_ms = ${soonMs}`,
    );
    await service.token(email);
    await service.token(friend);
    await service.adminJson("banner", "set", "promo", "Hello");
    await service.adminJson("connect", "add", "studio", "Studio", "com.example.studio:/signed-in");
    await insert("clerk_users", { id: person.subject, email, updated_at_ms: 1, is_deleted: 0 });
    const state = Buffer.from(JSON.stringify({ login_hint: email })).toString("base64url");
    const { subject } = person;
    for (const [kind, payload, more] of [
      ["Grant", { accountId: subject, clientId: "studio" }, {}],
      ["RefreshToken", { accountId: subject, grantId: "g" }, { grant_id: "g" }],
      [
        "Interaction",
        { params: { login_hint: email, state }, result: { login: { accountId: subject } } },
        {},
      ],
      ["Interaction", { params: { login_hint: email, state } }, {}],
      [
        "Client",
        { client_id: "app_x", client_name: `${email}’s app`, redirect_uris: ["http://127.0.0.1/"] },
        {},
      ],
    ] as const) {
      const row = {
        kind,
        id_hash: crypto.randomUUID(),
        payload: JSON.stringify(payload),
        expires_at_ms: soonMs,
      };
      await insert("connect_state", { ...row, ...more });
    }
    await insert("billing_unclaimed", { id: "sub_1", email, created_at_ms: 1 });
    // About several accounts.
    const write = { backend_id: "b", key_hash: "k", body_digest: "d", answer: person.id, written_at_ms: 1 };
    await insert("backend_writes", write);
    const webhook = { id: "w", url: "https://systems.example.com/", sealed_secret: "s", added_at_ms: 1 };
    await insert("webhooks", { ...webhook, position: 0, version: 1, stopped_at_ms: 1, lease_until_ms: 0 });
    const told = { webhook_id: "w", number: 1, event_id: "e", account_id: "a", type: "t", state: "failed" };
    await insert("webhook_deliveries", { ...told, attempts: 1, next_at_ms: 1, answer: "no" });
    await insert("passkey_challenges", { challenge: "c", expires_at_ms: soonMs });
    for (const whose of [email, friend]) {
      const [{ id } = {}] = await stage.query(`SELECT id FROM accounts WHERE email = '${whose}'`);
      const key = { credential_id: crypto.randomUUID(), rp_id: "localhost", public_key: "k", counter: 0 };
      const passkey = {
        id: crypto.randomUUID(),
        account_id: String(id),
        name: "A laptop",
        added_at_ms: soonMs,
      };
      await insert("passkeys", { ...passkey, ...key });
      const held = {
        account_id: String(id),
        backend_id: "b",
        thousandths: 0,
        reason: "A page",
        reference: "7",
      };
      await insert("holds", { ...held, id: crypto.randomUUID(), created_at_ms: 1, expires_at_ms: soonMs });
      const change = { account_id: String(id), from_email: whose, to_email: email, mailbox_hash: "m" };
      await insert("email_changes", {
        ...change,
        id: crypto.randomUUID(),
        asked_at_ms: soonMs,
        until_ms: soonMs,
      });
      await insert("passkey_offers", { account_id: String(id), declined_at_ms: soonMs });
    }
  }

  /** Writes a text into a column of a row that belongs to someone else. */
  async function write({ table, column }: TextColumn, text: string): Promise<void> {
    const route = stage.environment.DATABASE_URL ? "ctid" : "rowid";
    const [{ id: friendsId } = {}] = await stage.query(`SELECT id FROM accounts WHERE email = '${friend}'`);
    const others: Record<string, string> = {
      accounts: `id = '${friendsId}'`,
      local_sessions: `account_id = '${friendsId}'`,
      passkeys: `account_id = '${friendsId}'`,
      holds: `account_id = '${friendsId}'`,
      credit_entries: `account_id = '${friendsId}'`,
      onboarding_emails: `account_id = '${friendsId}'`,
      connect_state: "kind = 'Client'",
    };
    const value = jsonColumns.includes(column)
      ? JSON.stringify(
          column === "payload" ? { client_id: "app_x", client_name: text, redirect_uris: [text] } : [text],
        )
      : text;
    await stage.query(
      `UPDATE ${table} SET ${column} = ${quote(value)} WHERE ${route} = (SELECT ${route} FROM ${table} WHERE ${others[table] ?? "1 = 1"} LIMIT 1)`,
    );
    const [{ count } = {}] = await stage.query(
      `SELECT count(*) AS count FROM ${table} WHERE ${column} = ${quote(value)}`,
    );
    expect(Number(count), `${table}.${column} was written`).toBeGreaterThan(0);
  }

  it("appears in no column, file or log line, in any spelling of the name", {
    timeout: 60_000,
  }, async () => {
    await fill();
    await eventually(async () => expect((await mailsTo(service.dataDir, email)).length).toBeGreaterThan(1));
    const columns = await listTextColumns(stage);
    const free = columns
      .filter(({ column }) => !ours.test(column) && !identities.includes(column))
      // The name of an operator has only letters, digits, dots and hyphens: neither an email nor an id fits in.
      .filter(({ table }) => !/^operator|^plan|^hook_/.test(table));
    const text = `to ${[email, person.id, person.subject].flatMap(spellingsOf).join(" or ")}.`;
    for (const column of free) await write(column, text);
    const filled = await readEverything(stage, service);
    for (const { column, table } of columns.filter(({ column }) => column === "email")) {
      const found = await stage.query(`SELECT 1 FROM ${table} WHERE ${column} = '${email}'`);
      expect(found.length, `${table}.${column}`).toBeGreaterThan(0);
    }
    expect(findPerson(filled).length).toBeGreaterThan(30);
    const ledger = "SELECT thousandths FROM credit_entries ORDER BY created_at_ms, thousandths";
    const before = await stage.query(ledger);

    expect(await service.adminJson("person", "erase", email.toUpperCase())).toEqual({ erased: email });
    const audited = await service.adminJson<object[]>("audit", "list", "--of", email);
    expect(audited[0]).toMatchObject({ what: "person erase", before: null, after: null });
    expect(await service.admin("person", "erase", "nobody@example.com")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not_found: No data about this email"),
    });
    // The operator's systems are told by the account's id, also that it is gone, until the events expire.
    const told = await stage.query(`SELECT type FROM events WHERE account_id = '${person.id}' ORDER BY seq`);
    expect(told.at(-1)).toEqual({ type: "account.deleted" });
    for (const table of ["events", "event_counters"]) await stage.query(`DELETE FROM ${table}`);
    if (!stage.environment.DATABASE_URL) await stage.query("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(findPerson(await readEverything(stage, service))).toEqual([]);
    expect(await stage.query(ledger)).toEqual(before);
    const [closed, ...more] = await stage.query("SELECT * FROM accounts WHERE email LIKE '%erased.invalid'");
    expect([closed, more]).toEqual([
      expect.objectContaining({ id: expect.stringMatching(/^acc_[\w-]{22}$/), subject: null, plan: "trial" }),
      [],
    ]);
    const entries = await stage.query(
      `SELECT thousandths FROM credit_entries WHERE account_id = '${closed?.id}'`,
    );
    expect(entries.map(({ thousandths }) => Number(thousandths))).toEqual([7000]);
    const listed = await service.adminJson<{ email: string }[]>("account", "list");
    expect(listed.map(({ email }) => email)).toEqual([friend]);
    expect(await service.adminJson("overview")).toMatchObject({ accounts: { endedTrials: 0 } });
    // Other people's data still works.
    expect((await service.adminJson<object[]>("connect", "list")).length).toBe(2);
    expect((await service.ask("/")).text).toContain("(erased)");
    expect((await service.adminJson<object[]>("session", "list", friend)).length).toBe(1);
  });

  it("is not restored by the unsubscribe link of a sent mail, which still suppresses the address", async () => {
    expect((await service.ask(link, { method: "POST" })).status).toBe(200);
    expect(await stage.query("SELECT * FROM email_suppressions")).not.toEqual([]);
    expect(findPerson(await readEverything(stage, service))).toEqual([]);
    await service.adminJson("account", "add", email);
    const mails = await service.adminJson<{ state: string }[]>("emails", "list", email);
    expect(new Set(mails.map(({ state }) => state))).toEqual(new Set(["stopped"]));
    await service.adminJson("person", "erase", email);
  });

  it("is gone step by step where much was used, and their neighbour keeps what is theirs", async () => {
    const rows = 2001; // one more than a step changes
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, "--credits", "9");
    const [{ id: other } = {}] = await stage.query(`SELECT id FROM accounts WHERE email = '${friend}'`);
    const upTo = (many: number) =>
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})`;
    for (const [whose, many] of [
      [id, rows],
      [other, 3],
    ] as const) {
      await stage.query(`${upTo(many)} INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
        SELECT '${whose}' || i, '${whose}', -1, 'A job', i FROM n`);
      await stage.query(`${upTo(many)} INSERT INTO holds
        (id, account_id, backend_id, thousandths, reason, created_at_ms, expires_at_ms, closed_as)
        SELECT '${whose}' || i, '${whose}', 'b', 1, 'A job', i, i, 'settled' FROM n`);
      await stage.query(`${upTo(many)} INSERT INTO backend_writes
        (backend_id, key_hash, account_id, body_digest, answer, written_at_ms)
        SELECT 'b', '${whose}' || i, '${whose}', 'd', '{}', i FROM n`);
    }
    // What an attempt that was interrupted has left.
    const anonymous = pseudonymOf(id);
    await insert("accounts", {
      id: anonymous,
      email: `${anonymous.toLowerCase()}@erased.invalid`,
      plan: "trial",
      trial_ends_at_ms: 1,
      trial_end_told_ms: 1,
      assistant_limit: 1,
      credit_thousandths: 10_000,
      created_at_ms: 1,
    });
    await service.adminJson("person", "erase", email);
    expect(await stage.query(`SELECT type FROM events WHERE account_id = '${anonymous}'`)).toEqual([]);
    const audited = await service.adminJson<{ what: string }[]>("audit", "list", "--of", email);
    expect(
      audited
        .slice(0, 2)
        .map(({ what }) => what)
        .toSorted(),
    ).toEqual(["person erase", "person erase begun"]);
    for (const table of ["holds", "backend_writes", "credit_entries"]) {
      const [{ own, others } = {}] = await stage.query(
        `SELECT CAST(count(CASE account_id WHEN '${id}' THEN 1 END) AS integer) AS own,
          CAST(count(CASE account_id WHEN '${other}' THEN 1 END) AS integer) AS others FROM ${table}`,
      );
      expect([table, own, Number(others) >= 3]).toEqual([table, 0, true]);
    }
    const [closed] = await stage.query(
      `SELECT CAST(count(*) AS integer) AS entries FROM credit_entries WHERE id LIKE '${id}%' OR thousandths = 9000`,
    );
    expect(closed).toEqual({ entries: rows + 1 });
    for (const table of ["holds", "backend_writes", "credit_entries"])
      await stage.query(`DELETE FROM ${table} WHERE account_id = '${other}'`);
  });

  it("leaves another one who has an email by now that was theirs", async () => {
    const [moved, taken] = ["moved@example.com", "taken@example.com"];
    const { id } = await service.adminJson<{ id: string }>("account", "add", moved);
    await service.adminJson("account", "add", taken);
    const change = { id: "moved", account_id: id, from_email: taken, to_email: moved, mailbox_hash: "m" };
    await insert("email_changes", { ...change, asked_at_ms: 1, until_ms: 1, changed_at_ms: 1 });
    await service.adminJson("person", "erase", moved);
    expect(await service.adminJson("account", "show", taken)).toMatchObject({ email: taken });
  });

  it("is not restored by a late delivery from Clerk", async () => {
    const db = await stage.open();
    const nowMs = Date.now();
    await syncClerkUser(db, { id: person.subject, email, updatedAtMs: nowMs, isBanned: false }, nowMs);
    await deleteClerkUser(db, person.subject, nowMs);
    expect(findPerson(await readEverything(stage, service))).toEqual([]);
  });

  it("leaves nothing that they wrote in a column of the account which no one has declared", async () => {
    await stage.query("ALTER TABLE accounts ADD COLUMN motto text");
    await service.adminJson("account", "add", email, "--plan", "hobby");
    await stage.query(`UPDATE accounts SET motto = 'Carpe diem' WHERE email = '${email}'`);
    await service.adminJson("account", "set", email, "--assistant-limit", "3");
    await service.adminJson("person", "erase", email);
    expect(await readEverything(stage, service)).not.toContain("Carpe diem");
    await stage.query("ALTER TABLE accounts DROP COLUMN motto");
  });

  it("leaves neither in the audit nor in the closed account what a declared column has of their words", async () => {
    const columns = (await listTextColumns(stage)).filter(({ table }) => table === "accounts");
    for (const { column } of columns.filter(
      ({ column }) => !identities.includes(column) && !ours.test(column),
    )) {
      const declared = accountColumns[column as keyof typeof accountColumns];
      expect(declared, column).toMatchObject({ kept: false, audited: false });
    }
  });
});
