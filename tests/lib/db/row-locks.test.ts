import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { auditedAccount } from "@/lib/accounts/accounts";
import { readCaller } from "@/lib/accounts/caller";
import { syncClerkUser } from "@/lib/accounts/clerk-user";
import { setCreditLimits } from "@/lib/accounts/credits/credit-limits";
import { givePlanCredits } from "@/lib/accounts/credits/plan-credits";
import { askForEmail, confirmEmailChange } from "@/lib/accounts/email-change";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { erasePerson } from "@/lib/accounts/leaving/erasure";
import { setPlan } from "@/lib/accounts/terms/plan-changes";
import { makeFirstKey } from "@/lib/auth/keys/signing-keys";
import { usePasskey } from "@/lib/auth/passkeys/passkey-exchange";
import { addPasskey, hasTooMany, ownersSite } from "@/lib/auth/passkeys/passkeys";
import { keepAppAnswers } from "@/lib/auth/sessions/app-answers";
import { networksOf, recordNetwork } from "@/lib/auth/sessions/session-network";
import { maxSessions, startSession } from "@/lib/auth/sessions/session-start";
import { executeWrites } from "@/lib/backend/credit-writes";
import { listAllEntries } from "@/lib/backend/entry-list";
import { Refusal } from "@/lib/backend/refusals";
import { changeAccount, keepCustomer, keepPayments } from "@/lib/billing/customer/purchases";
import { endDueLicences } from "@/lib/billing/licence/subscription";
import { dayMs } from "@/lib/config/durations";
import { auditedTransaction, listAudit } from "@/lib/db/audit";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import { migratePostgres } from "@/lib/db/migrate";
import { deleteOld } from "@/lib/db/old-rows";
import { transact } from "@/lib/db/transaction";
import { tellChangedPlans } from "@/lib/events/changed-plans";
import { numberEvents } from "@/lib/events/event-list";
import { ensureLinkKeys } from "@/lib/mail/links/link-keys";
import { claimMails, enqueueMail } from "@/lib/mail/outbox/outbox";
import { hashMailbox } from "@/lib/mail/outbox/suppressions";
import { replaceConfirmation } from "@/lib/mail/waitlist-confirmation";
import { approveApp, appSessionId, beginAppSession } from "@/lib/oauth/app-session";
import { rotateTokens } from "@/lib/oauth/token-rotation";
import { readPlans } from "@/lib/plans/plan";
import { hashSecret } from "@/lib/runtime/secret";
import { recordOutages } from "@/lib/status/outages";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";

/*
 * Row locks: a writer holds the row until all who want it wait, so that what reads it without
 * the lock reads what was before.
 */

const email = "ceo@example.com";
const nowMs = Date.parse("2027-01-31T09:00:00Z");

// The secret that the keys of both stores are sealed with.
Object.assign(process.env, besideDatabaseUrl, { DATA_DIR: createFolder() });

describe.each(everyEngine)("who waits for a row on $name", async (engine) => {
  const isOnPostgres = engine.name === "PostgreSQL";
  const { stage, db } = await startStageForEach(engine, { conflicts: false });

  /** Has all begin while a writer, who does this, has not finished, each once the one before it waits. Returns what came of each. */
  async function behind<T>(sql: string, ...all: (() => Promise<T>)[]): Promise<T[]> {
    const finish = await stage.change(sql);
    const waits =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const begun: Promise<T>[] = [];
    for (const act of all) {
      begun.push(act());
      if (isOnPostgres)
        await eventually(async () => expect(await stage.query(waits)).toHaveLength(begun.length));
    }
    if (!isOnPostgres) await sleep(20);
    await finish();
    return Promise.all(begun);
  }
  const unchanged = (table: string) => `UPDATE ${table} SET id = id`;
  const admit = () => addAccount(db, email, { plan: "licensed" }, nowMs);

  /** The states of the audit's entries of a kind: what each found and left. */
  async function audited(what: string) {
    const all = [];
    for await (const page of listAudit(db)) all.push(...page.filter((entry) => entry.what === what));
    return all.map(({ before, after }) => [before, after].map((state) => JSON.stringify(state)));
  }
  /** Whether each found what another left, and no two the same. */
  const follow = (states: (string | undefined)[][]) => {
    const found = new Set(states.map(([before]) => before));
    expect([found.size, states.filter(([, after]) => found.has(after)).length]).toEqual([3, 2]);
  };

  it("to change an account audits what it found", async () => {
    await admit();
    const set = (assistant_limit: number) => () =>
      auditedTransaction(
        db,
        { by: "service", what: "a change", ...auditedAccount(email) },
        nowMs,
        (transaction) =>
          transaction.updateTable("accounts").set({ assistant_limit }).where("email", "=", email).execute(),
      );
    await behind<unknown>(unchanged("accounts"), set(1), set(2), set(3));
    follow(await audited("a change"));
  });

  it("to set an owner's limits audits what it found", async () => {
    const account = await admit();
    const set = (monthly_thousandths: number) => () =>
      setCreditLimits(
        db,
        { account: { ...account, subject: "user_1" }, by: "owner" },
        { monthly_thousandths, mail_below_thousandths: null },
        nowMs,
      );
    await set(1)();
    await stage.query("DELETE FROM audit_entries RETURNING id");
    await behind(unchanged("accounts"), set(2), set(3), set(4));
    follow(await audited("credit limits"));
  });

  it("to ask for another email is counted", async () => {
    const { id } = await admit();
    const ask = (n: number) => () =>
      askForEmail(db, { id, email }, { to: `new-${n}@example.com`, isMailProved: false }, nowMs);
    const came = await behind(unchanged("accounts"), ask(1), ask(2), ask(3), ask(4));
    expect(came.filter((problem) => problem === "often")).toHaveLength(1);
    expect(await stage.query(`SELECT id FROM email_changes WHERE until_ms > ${nowMs}`)).toHaveLength(1);
  });

  it("to ask for another email finds the account gone, and refuses", async () => {
    const { id } = await admit();
    const ask = () => askForEmail(db, { id, email }, { to: "new@example.com" }, nowMs);
    await expect(behind(`DELETE FROM accounts WHERE id = '${id}'`, ask)).rejects.toThrow("may not run");
    expect(await stage.query("SELECT kind FROM sign_in_mails")).toEqual([]);
  });

  it("to confirm an email finds the account gone, and mails nobody", async () => {
    const { id } = await admit();
    await askForEmail(db, { id, email }, { to: "new@example.com", isMailProved: true }, nowMs);
    const [change] = await stage.query("SELECT id FROM email_changes");
    await stage.query("DELETE FROM sign_in_mails RETURNING id");
    await behind(`DELETE FROM accounts WHERE id = '${id}'`, () =>
      confirmEmailChange(db, { id: String(change?.id), side: "to" }, nowMs),
    );
    expect(await stage.query("SELECT kind FROM sign_in_mails")).toEqual([]);
  });

  it("to store a customer or payments of an account finds it gone, and stores nothing", async () => {
    const { id } = await admit();
    const payment = {
      paid_at_ms: nowMs,
      amount: 1,
      currency: "eur",
      returned: 0,
      dispute: null,
    };
    await behind<unknown>(
      `DELETE FROM accounts WHERE id = '${id}'`,
      () => keepCustomer(db, { accountId: id, customerId: "cus_1" }, nowMs),
      () => keepPayments(db, id, "credits", [{ id: "ch_1", ...payment }]),
    );
    for (const table of ["billing_customers", "billing_payments"])
      expect(await stage.query(`SELECT account_id FROM ${table}`)).toEqual([]);
  });

  it("to use a passkey finds its counter grown, and is a copy", async () => {
    const { id } = await admit();
    await stage.query(
      `INSERT INTO passkeys (id, account_id, credential_id, rp_id, public_key, counter, name, added_at_ms)
       VALUES ('pass_1', '${id}', 'credential', 'localhost', 'key', 4, 'Key', 1) RETURNING id`,
    );
    const use = (challenge: string) => () =>
      transact(db, (transaction) =>
        usePasskey(
          transaction,
          ownersSite(),
          { passkey: { credential_id: "credential" }, challenge, counter: 5, isSynced: false },
          nowMs,
        ),
      );
    const came = await behind(unchanged("passkeys"), use("one"), use("other"));
    expect(came.toSorted()).toEqual(["copied", undefined]);
  });

  it("to mail a mailbox of the waitlist finds that it was mailed", async () => {
    const both = ["zoe@example.com", "zoe+news@example.com"];
    for (const to of both)
      await stage.query(
        `INSERT INTO waitlist (email, joined_at_ms, mailbox_hash) VALUES ('${to}', 1, '${hashMailbox(to)}') RETURNING email`,
      );
    const came = await behind(
      "UPDATE waitlist SET email = email",
      ...both.map((to) => () => replaceConfirmation(db, { to, token: "token" }, nowMs)),
    );
    expect(came.toSorted()).toEqual([false, true]);
  });

  it("to note a session's network keeps those of the others", async () => {
    const { id } = await admit();
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind) VALUES ('s', '${id}', ${nowMs + 1000}, 'app') RETURNING id`,
    );
    const all = ["192.0.2.0", "198.51.100.0", "203.0.113.0"];
    const record = (network: string) =>
      transact(db, (transaction) => recordNetwork(transaction, "s", { network, isBound: false }, nowMs));
    const networks = async () => {
      const [row] = await stage.query("SELECT kind, renewed_from, network FROM local_sessions");
      return networksOf(row as never);
    };
    await behind(unchanged("local_sessions"), ...all.map((network) => () => record(network)));
    const noted = await networks();
    expect(noted.toSorted()).toEqual(all);
    await record(String(noted[0]));
    expect(await networks(), "what another request has just noted").toEqual(noted);
  });

  it("to begin an app that its owner has approved finds it begun", async () => {
    const { id } = await admit();
    const app = { id: appSessionId("grant"), account_id: id, name: "An app", app_origin: "a device" };
    await approveApp(db, app, email, nowMs);
    const begin = () => transact(db, (transaction) => beginAppSession(transaction, "grant", nowMs));
    await behind(unchanged("local_sessions"), begin, begin);
    expect(await stage.query("SELECT kind FROM sign_in_mails")).toEqual([{ kind: "new app" }]);
    expect(await audited("app begin")).toHaveLength(1);
  });

  it("to take an email at Clerk that its holder leaves finds it free", async () => {
    for (const [subject, to] of [
      ["user_1", "left@example.com"],
      ["user_2", "old@example.com"],
    ] as const)
      await addAccount(db, to, { plan: "licensed", subject }, nowMs);
    const sync = (id: string, to: string) => () =>
      syncClerkUser(db, { id, email: to, updatedAtMs: nowMs, isBanned: false }, nowMs);
    await behind(
      "UPDATE accounts SET id = id WHERE subject = 'user_1'",
      sync("user_1", "new@example.com"),
      sync("user_2", "left@example.com"),
    );
    expect(await stage.query("SELECT subject, email FROM accounts ORDER BY subject")).toEqual([
      { subject: "user_1", email: "new@example.com" },
      { subject: "user_2", email: "left@example.com" },
    ]);
  });

  it("to follow the news of a user at Clerk finds newer news, and keeps them", async () => {
    const sync = (to: string, updatedAtMs: number) => () =>
      syncClerkUser(db, { id: "user_1", email: to, updatedAtMs, isBanned: false }, nowMs);
    await sync("first@example.com", 1)();
    await behind(unchanged("clerk_users"), sync("newest@example.com", 3), sync("newer@example.com", 2));
    expect(await stage.query("SELECT email FROM clerk_users")).toEqual([{ email: "newest@example.com" }]);
  });

  it("to ask for one mailbox in several spellings is counted", async () => {
    const asking = [1, 2, 3, 4].map((n) => async () => {
      const { id } = await addAccount(db, `ceo-${n}@example.com`, { plan: "licensed" }, nowMs);
      const mover = { id, email: `ceo-${n}@example.com` };
      return askForEmail(db, mover, { to: `new+${n}@example.com`, isMailProved: true }, nowMs);
    });
    const of = hashMailbox("new@example.com");
    await behind(
      `INSERT INTO sign_in_emails (email, long_code_hash, long_code_until_ms) VALUES ('${of}', '', 0)`,
      ...asking,
    );
    // Each asks its own mailbox, and the first three the other one.
    expect(await stage.query("SELECT id FROM sign_in_mails WHERE kind = 'email change'")).toHaveLength(7);
  });

  it("to take an email that another account takes too ends the request", async () => {
    const to = "new@example.com";
    for (const n of [1, 2]) {
      const { id } = await addAccount(db, `ceo-${n}@example.com`, { plan: "licensed" }, nowMs);
      await askForEmail(db, { id, email: `ceo-${n}@example.com` }, { to, isMailProved: true }, nowMs);
    }
    const changes = await stage.query("SELECT id FROM email_changes");
    const came = await behind(
      `INSERT INTO sign_in_emails (email, long_code_hash, long_code_until_ms) VALUES ('${to}', '', 0)`,
      ...changes.map((change) => () => confirmEmailChange(db, { id: String(change.id), side: "to" }, nowMs)),
    );
    expect(came.map((mover) => mover?.email).toSorted()).toEqual([to, undefined]);
  });

  it("to add a passkey finds ten, and adds none", async () => {
    const { id } = await admit();
    for (let n = 1; n < 10; n++)
      await stage.query(
        `INSERT INTO passkeys (id, account_id, credential_id, rp_id, public_key, counter, name, added_at_ms)
         VALUES ('pass_${n}', '${id}', 'credential ${n}', 'localhost', 'key', 0, 'Key', 1) RETURNING id`,
      );
    const add = (challenge: string) => () => {
      const credential = { credential_id: challenge, rp_id: "localhost", public_key: "key", counter: 0 };
      const adding = addPasskey(db, { id, email }, { credential, challenge, name: "Key" }, nowMs);
      return adding.catch((failure: Error) => failure.message);
    };
    const came = await behind(unchanged("accounts"), add("one"), add("other"));
    expect(came.toSorted()).toEqual([hasTooMany.message, undefined]);
  });

  it("to start a session where there are most ends another for it", async () => {
    const { id } = await admit();
    const row = (name: string) => `('${name}', '${id}', ${nowMs + dayMs}, 'browser', ${nowMs})`;
    const rows = Array.from({ length: maxSessions }, (_, n) => row(`session ${n}`)).join();
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind, begun_at_ms) VALUES ${rows} RETURNING id`,
    );
    const start = (name: string) => () =>
      startSession(
        db,
        { by: "owner", what: "sign in" },
        { id: name, account_id: id, kind: "browser", name: "A browser", expires_at_ms: nowMs + dayMs },
        nowMs,
      );
    await behind(unchanged("accounts"), start("one"), start("other"));
    const current = await stage.query(`SELECT id FROM local_sessions WHERE expires_at_ms > ${nowMs}`);
    expect(current).toHaveLength(maxSessions);
  });

  it("to change what Stripe gives audits what it found", async () => {
    const buyer = await admit();
    const set = (assistant_limit: number) => () =>
      changeAccount(db, { buyer, what: "a purchase" }, nowMs, async (transaction) => {
        await transaction
          .updateTable("accounts")
          .set({ assistant_limit })
          .where("id", "=", buyer.id)
          .execute();
        return "stored";
      });
    await behind(unchanged("accounts"), set(1), set(2), set(3));
    follow(await audited("a purchase"));
  });

  it("to end a licence that has run out finds it renewed, and leaves it", async () => {
    const { id } = await admit();
    await stage.query(
      `INSERT INTO billing_subscriptions
        (id, account_id, status, period_ends_ms, licence_until_ms, created_at_ms, version)
       VALUES ('sub', '${id}', 'active', 1, ${nowMs}, 1, 1) RETURNING id`,
    );
    await behind(`UPDATE billing_subscriptions SET licence_until_ms = ${nowMs + dayMs}`, () =>
      endDueLicences(db, nowMs),
    );
    const [row] = await stage.query("SELECT licence_until_ms FROM billing_subscriptions");
    expect(Number(row?.licence_until_ms)).toBe(nowMs + dayMs);
  });

  it("to give the credits of a month finds them given", async () => {
    await stage.query("UPDATE plans SET credit_thousandths = 1000 WHERE name = 'licensed' RETURNING name");
    const { id: accountId } = await admit();
    const plans = await readPlans(db);
    const give = () =>
      ledgerTransaction(db, (transaction) =>
        givePlanCredits(transaction, { accountId, plans }, nowMs + 32 * dayMs),
      );
    await behind(unchanged("accounts"), give, give);
    expect(await stage.query("SELECT id FROM credit_entries")).toHaveLength(2);
  });

  /** Spends one credit for a backend, as one request with this key. Returns the answer, or what it was refused with. */
  const spend = (account: string, key: string) => () =>
    ledgerTransaction(db, async (transaction) => {
      const write = { kind: "spend", account, thousandths: 1000, reason: "A page" } as const;
      const answer = ([outcome]: readonly unknown[]) => {
        if (outcome instanceof Refusal) throw outcome;
        return "spent";
      };
      const request = { backend: "worker", keyHash: key, digest: account, writes: [write], answer };
      const [result] = await executeWrites(transaction, [request], () => nowMs);
      return result && "refusal" in result ? (result.refusal as Refusal).refusal : result?.answer;
    });
  const addBackend = () =>
    stage.query("INSERT INTO backends (id, may, added_at_ms) VALUES ('worker', 'write', 1) RETURNING id");

  it("to spend the last credit finds it spent", async () => {
    await addBackend();
    const { id } = await addAccount(db, email, { plan: "licensed", credit_thousandths: 1000 }, nowMs);
    const came = await behind(unchanged("accounts"), spend(id, "one"), spend(id, "other"));
    expect(came).toEqual(["spent", "insufficient_credits"]);
    expect(await stage.query("SELECT place FROM credit_entries")).toHaveLength(2);
  });

  it("to spend with a key finds it used, and spends nothing", async () => {
    await addBackend();
    const { id } = await addAccount(db, email, { plan: "licensed", credit_thousandths: 1000 }, nowMs);
    const came = await behind(
      `INSERT INTO backend_writes (backend_id, key_hash, body_digest, answer, written_at_ms)
       VALUES ('worker', 'key', 'another', 'an answer', 1)`,
      spend(id, "key"),
    );
    expect(came).toEqual(["key_reused"]);
    expect(await stage.query("SELECT id FROM credit_entries")).toHaveLength(1);
  });

  it("to refuse a write without an account asks the store for a lock, which says whether it is the primary", async () => {
    await addBackend();
    expect(await behind(unchanged("backends"), spend("acc_none", "one"))).toEqual(["account_not_found"]);
  });

  it("to write for a session finds it ended", async () => {
    const subject = "user_1";
    const { id } = await addAccount(db, email, { plan: "licensed", subject }, nowMs);
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind) VALUES ('s', '${id}', ${nowMs + 1000}, 'app') RETURNING id`,
    );
    const [caller] = await behind("UPDATE local_sessions SET expires_at_ms = 0", () =>
      transact(db, (transaction) => readCaller(transaction, { subject, sessionId: "s", nowMs })),
    );
    expect(caller).toMatchObject({ id, session_id: null });
  });

  it("to write what another has just written writes nothing", async () => {
    const { id } = await admit();
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind) VALUES ('s', '${id}', ${nowMs + 1000}, 'app') RETURNING id`,
    );
    await behind(
      `INSERT INTO app_answers (account_id, session_id, told, at_ms) VALUES ('${id}', 's', 'other', ${nowMs})`,
      () => keepAppAnswers(db, ["s"], "ours", nowMs),
    );
    expect(await stage.query("SELECT told FROM app_answers")).toEqual([{ told: "other" }]);
    await behind(
      `INSERT INTO sign_in_mails (id, kind, sealed, next_attempt_at_ms, expires_at_ms) VALUES ('mail', 'farewell', 'other', 1, 2)`,
      () =>
        transact(db, (transaction) =>
          enqueueMail(
            transaction,
            { kind: "farewell", to: email, atMs: nowMs },
            { id: "mail", nowMs, untilMs: nowMs + dayMs },
          ),
        ),
    );
    expect(await stage.query("SELECT sealed FROM sign_in_mails")).toEqual([{ sealed: "other" }]);
    await behind(
      `INSERT INTO status_outages (part, started_at_ms, seen_at_ms) VALUES ('sign-in', ${nowMs - 1}, ${nowMs})`,
      () => recordOutages(async () => db, [{ name: "sign-in", isOutage: true }], new Map(), nowMs),
    );
    expect(await stage.query("SELECT part FROM status_outages")).toEqual([{ part: "sign-in" }]);
  });

  it("to erase a person keeps the balance that a writer leaves", async () => {
    const { id } = await admit();
    await behind(`UPDATE accounts SET credit_thousandths = 7000 WHERE id = '${id}'`, () =>
      erasePerson(db, email, "service", nowMs),
    );
    expect(
      await stage.query("SELECT credit_thousandths FROM accounts WHERE credit_thousandths > 0"),
    ).toHaveLength(1);
  });

  /** Renews an app's tokens with its first refresh token, whose row says when it was used first. */
  async function renewTwice(consumed_at_ms: number | null) {
    const first = {
      kind: "RefreshToken",
      grant_id: "grant",
      payload: "{}",
      look_up_hash: null,
      expires_at_ms: nowMs,
    };
    const row = { ...first, id_hash: hashSecret("connect", "first"), consumed_at_ms };
    // The secret of its successor has gone.
    const gone = { ...first, id_hash: "gone", parent_hash: row.id_hash, consumed_at_ms: null };
    await db.insertInto("connect_state").values(row).execute();
    if (consumed_at_ms) await db.insertInto("connect_state").values(gone).execute();
    const renew = (made: string) => () =>
      rotateTokens(
        db,
        {
          used: { kind: "RefreshToken", jti: "first" },
          grantId: "grant",
          issued: { ...first, kind: "RefreshToken", id_hash: made, consumed_at_ms: null },
        },
        nowMs,
      );
    const came = await behind("UPDATE connect_state SET payload = payload", renew("one"), renew("other"));
    expect(came[0]).toEqual({ successor: expect.any(String) });
    expect(came[1]).toEqual(came[0]);
    const issued = "SELECT id_hash FROM connect_state WHERE parent_hash <> '' AND id_hash <> 'gone'";
    expect(await stage.query(issued)).toHaveLength(1);
  }

  it("to renew at once gets one successor, from the first use on and from a later one", async () => {
    await renewTwice(null);
    await stage.query("DELETE FROM connect_state");
    await renewTwice(nowMs - 1);
  });

  it("to make the first keys finds them made", async () => {
    for (const [table, make] of [
      ["signing_keys", () => makeFirstKey(db, nowMs)],
      ["link_keys", () => ensureLinkKeys(db)],
    ] as const) {
      await stage.query(`DELETE FROM ${table}`);
      await behind<unknown>(isOnPostgres ? `LOCK TABLE ${table} IN SHARE MODE` : "SELECT 1", make, make);
      expect(await stage.query(`SELECT * FROM ${table}`), table).toHaveLength(1);
    }
  });

  /** Has two number what is there, one each; where rows alone are locked, what is older comes between them. */
  async function number(
    table: string,
    write: (isOlder: boolean) => Promise<unknown>,
    one: () => Promise<unknown>,
  ) {
    await write(false);
    if (!isOnPostgres) await write(true);
    await behind(unchanged(table), one, async () => {
      if (isOnPostgres) await write(true);
      return one();
    });
  }

  it("to number the ledger's entries gives each a number of its own", async () => {
    const { id } = await admit();
    await stage.query("INSERT INTO ledger_numbers (id, last) VALUES (1, 0) RETURNING id");
    const write = (isOlder: boolean) =>
      stage.query(
        `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
         VALUES ('${isOlder}', '${id}', 1, 'given', ${isOlder ? 1 : 2}) RETURNING id`,
      );
    await number("ledger_numbers", write, () => listAllEntries(db, undefined, 1));
    const { entries } = await listAllEntries(db, undefined, 9);
    expect(entries).toHaveLength(2);
    const numbers = await stage.query("SELECT number FROM credit_entries");
    expect(numbers.map((row) => Number(row.number)).toSorted()).toEqual([1, 2]);
  });

  it("to number the events gives each a number of its own, and one of its account", async () => {
    await stage.query(
      "INSERT INTO event_numbers (id, last, swept, since_ms) VALUES (1, 0, 0, 0) RETURNING id",
    );
    const write = (isOlder: boolean) =>
      stage.query(
        `INSERT INTO events (seq, id, account_id, type, data, at_ms)
         ${isOnPostgres ? "OVERRIDING SYSTEM VALUE" : ""}
         VALUES (${isOlder ? 1_000_001 : 1_000_002}, '${isOlder}', 'acc_1', 'account.created', '{}', 1) RETURNING id`,
      );
    await number("event_numbers", write, () => numberEvents(db, 1));
    const rows = await stage.query("SELECT number, account_number FROM events ORDER BY number");
    expect(rows.map((row) => [Number(row.number), Number(row.account_number)])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it("to tell an account of its plan's change finds that it has another plan, and tells nothing", async () => {
    const set = (feature: string) => setPlan(db, "studio", { features: { [feature]: "" } }, {}, nowMs);
    await set("none");
    const { id } = await addAccount(db, email, { plan: "licensed", given_plan: "studio" }, nowMs);
    await set("voice");
    await behind(`UPDATE accounts SET given_plan = NULL WHERE id = '${id}' RETURNING id`, () =>
      tellChangedPlans(db),
    );
    const told = await stage.query("SELECT data FROM events WHERE type = 'entitlement.changed'");
    expect(told.map(({ data }) => JSON.parse(String(data)).after)).toMatchObject([{ plan: "licensed" }]);
  });

  if (!isOnPostgres) return;

  it("to migrate finds it done", async () => {
    const url = new URL(String(stage.environment.DATABASE_URL));
    url.searchParams.set("application_name", "migrates");
    const changes = { "999-more": ["CREATE TABLE more (id text)"] };
    const finish = await stage.change(
      "SELECT FROM kysely_migration WHERE name = 'migration lock' FOR UPDATE",
    );
    const both = [1, 2].map(() => migratePostgres(url.href, changes));
    const tried =
      "SELECT 1 FROM pg_stat_activity WHERE application_name = 'migrates' AND state = 'idle' AND query = 'commit'";
    await eventually(async () => expect(await stage.query(tried)).toHaveLength(2));
    expect(await stage.query("SELECT to_regclass('more') AS made")).toEqual([{ made: null }]);
    await finish();
    expect((await Promise.all(both)).flat()).toEqual(["999-more"]);
  });

  describe("is passed over", () => {
    it("where a mail that another sends is due", async () => {
      for (const id of ["held", "free"])
        await transact(db, (transaction) =>
          enqueueMail(
            transaction,
            { kind: "farewell", to: email, atMs: nowMs },
            { id, nowMs, untilMs: nowMs + dayMs },
          ),
        );
      const finish = await stage.change("UPDATE sign_in_mails SET attempts = 1 WHERE id = 'held'");
      const taken = await claimMails(db, { limit: 9, leaseUntilMs: nowMs + 1, nowMs }, false);
      await finish();
      expect(taken?.map(({ id }) => id)).toEqual(["free"]);
    });

    it("where old rows are deleted", async () => {
      for (const id of ["held", "free"])
        await stage.query(
          `INSERT INTO passkey_challenges (challenge, expires_at_ms) VALUES ('${id}', 1) RETURNING challenge`,
        );
      const old = { table: "passkey_challenges", key: ["challenge"], column: "expires_at_ms" } as const;
      const finish = await stage.change(
        "UPDATE passkey_challenges SET expires_at_ms = 1 WHERE challenge = 'held'",
      );
      expect(await deleteOld(db, { ...old, untilMs: nowMs }, 9)).toBe(1);
      await finish();
    });
  });
});
