import { type Kysely, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { auditedAccount, deleteAccount, setAccount } from "@/lib/accounts/accounts";
import { syncClerkUser } from "@/lib/accounts/clerk-user";
import { acceptInvitation, addAccount, auditedInvitation, invite } from "@/lib/accounts/joining/invitations";
import { joinWaitlist } from "@/lib/accounts/joining/waitlist";
import { auditedTransaction, listAudit, unaudited, unauditedInserts } from "@/lib/db/audit";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { stopLaterEmails, suppressEmail } from "@/lib/mail/unsubscribe";
import { setBanner } from "@/lib/site-banner";
import { startStageForEach } from "@/tests/support/block";
import { everyEngine } from "@/tests/support/engines";
import { listTables } from "@/tests/support/stores";

const email = "ceo@example.com";
const atMs = Date.parse("2027-01-31T09:00:00Z");
const operator = "operator ann";

describe.each(everyEngine)("the audit on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine, { isAlone: true });
  let nowMs: number;
  beforeEach(() => {
    nowMs = atMs;
    vi.stubEnv("SUDO_USER", "ann");
  });
  afterEach(() => vi.unstubAllEnvs());

  /** Advances the clock. */
  const tick = () => ++nowMs;

  async function entries() {
    const listed = [];
    for await (const page of listAudit(db)) listed.unshift(...page.toReversed());
    return listed;
  }

  const summaries = async () => (await entries()).map(({ who, what, whom }) => [who, what, whom]);

  it("records who, what and whom of every change by commands, pages, webhooks, invitations and links", async () => {
    await joinWaitlist(db, "new@example.com", tick());
    const token = await auditedTransaction(
      db,
      { by: "operator", what: "invite", ...auditedInvitation("new@example.com") },
      tick(),
      (transaction) => invite(transaction, "new@example.com", { plan: "hobby" }, nowMs),
    );
    await acceptInvitation(db, { token, email: "new@example.com", subject: "user_1" }, tick());
    const { id } = await addAccount(db, email, {}, tick());
    await setAccount(db, email, { credit_thousandths: 5000 }, tick());
    await syncClerkUser(db, { id: "user_2", email, updatedAtMs: nowMs, isBanned: false }, tick());
    await stopLaterEmails(db, id, "unsubscribe link", tick());
    await suppressEmail(db, "bounced@example.com", tick());
    await deleteAccount(db, email, "operator", tick());
    const notice = { kind: "promo", message: "Hello", starts_at_ms: null, ends_at_ms: null } as const;
    await setBanner(db, { banner: notice }, tick());
    await setBanner(db, { banner: undefined }, tick());
    expect(await summaries()).toEqual([
      [operator, "invite", "new@example.com"],
      ["invitation", "account open", "new@example.com"],
      [operator, "account add", email],
      [operator, "account set", email],
      ["clerk", "user update", email],
      ["unsubscribe link", "mails stop", id],
      ["resend", "mails stop", "bounced@example.com"],
      [operator, "account delete", email],
      [operator, "banner set", null],
      [operator, "banner clear", null],
    ]);
  });

  it("records the state before and after, where it differs", async () => {
    await addAccount(db, email, { plan: "licensed" }, tick());
    await setAccount(db, email, { assistant_limit: 3, credit_thousandths: 1500 }, tick());
    const [added, set] = await entries();
    expect(added?.before).toBeNull();
    expect(JSON.parse(added?.after ?? "")).toMatchObject({ email, plan: "licensed", credit_thousandths: 0 });
    expect(JSON.parse(set?.before ?? "")).toEqual({ assistant_limit: null, credit_thousandths: 0 });
    expect(JSON.parse(set?.after ?? "")).toEqual({ assistant_limit: 3, credit_thousandths: 1500 });
    await suppressEmail(db, email, tick());
    expect((await entries()).at(-1)).toMatchObject({
      before: '{"suppressed":[]}',
      after: `{"suppressed":["${hashEmail(email)}"]}`,
    });
  });

  it("has no entry for a repeated or refused change, or for a row that is its own record", async () => {
    await joinWaitlist(db, email, tick());
    await suppressEmail(db, email, tick());
    await joinWaitlist(db, email, tick());
    await suppressEmail(db, email, tick());
    await expect(deleteAccount(db, email, "operator", tick())).rejects.toThrow("no account");
    await expect(acceptInvitation(db, { token: "x", email, subject: "user_1" }, tick())).resolves.toBe(
      "unknown",
    );
    expect(await summaries()).toEqual([["resend", "mails stop", email]]);
  });

  it("is written in the transaction of the change", async () => {
    await addAccount(db, email, {}, tick());
    await stage.query("ALTER TABLE audit_entries RENAME TO audit_entries_gone");
    await expect(setAccount(db, email, { assistant_limit: 3 }, tick())).rejects.toThrow("audit_entries");
    await stage.query("ALTER TABLE audit_entries_gone RENAME TO audit_entries");
    expect(await stage.query("SELECT assistant_limit FROM accounts")).toEqual([{ assistant_limit: null }]);
    const failing = auditedTransaction(
      db,
      { by: "operator", what: "try", ...auditedAccount(email) },
      tick(),
      async (transaction) => {
        await transaction.updateTable("accounts").set({ assistant_limit: 4 }).execute();
        throw new Error("the power went out");
      },
    );
    await expect(failing).rejects.toThrow("the power went out");
    expect(await summaries()).toHaveLength(1);
  });

  it("rejects any other write to an audited table", async () => {
    await addAccount(db, email, {}, tick());
    await expect(db.updateTable("accounts").set({ plan: "licensed" }).execute()).rejects.toThrow(
      "auditedTransaction()",
    );
    await expect(db.deleteFrom("credit_entries").execute()).rejects.toThrow("auditedTransaction()");
    await expect(
      db.transaction().execute((transaction) =>
        transaction
          .insertInto("email_suppressions")
          .values({ email_hash: hashEmail(email), created_at_ms: 0 })
          .execute(),
      ),
    ).rejects.toThrow("auditedTransaction()");
    await expect(sql`UPDATE accounts SET plan = 'licensed'`.execute(db)).rejects.toThrow(
      "auditedTransaction()",
    );
    const unseen = { by: "service", what: "tidy", whom: null, readState: async () => null } as const;
    await auditedTransaction(db, unseen, tick(), async (transaction) => {
      await transaction.updateTable("accounts").set({ plan: "hobby", trial_ends_at_ms: null }).execute();
    });
    expect((await summaries()).at(-1)).toEqual(["service", "tidy", null]);
  });

  it("covers every table, except those listed with a reason", async () => {
    const tables = (await listTables(stage)).filter((name) => !/^(kysely_migration|sqlite_)/.test(name));
    expect(tables.length).toBeGreaterThan(10);
    const anyDb = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
    for (const table of tables) {
      const writes = [
        anyDb.insertInto(table).defaultValues(),
        anyDb.updateTable(table).set({ id: "other", kind: "other" }),
        anyDb.deleteFrom(table).where(sql<boolean>`1 = 0`),
      ];
      const refused = await Promise.all(
        writes.map((write) =>
          write.execute().then(
            () => false,
            (failure: Error) => failure.message.includes("auditedTransaction()"),
          ),
        ),
      );
      const isNamed = Object.hasOwn(unaudited, table);
      const mayAdd = isNamed || Object.hasOwn(unauditedInserts, table);
      expect(refused, table).toEqual([!mayAdd, !isNamed, !isNamed]);
    }
    expect(
      Object.keys({ ...unaudited, ...unauditedInserts }).filter((name) => !tables.includes(name)),
    ).toEqual([]);
  });

  it("does not record progress: a mail's state and a session's last use", async () => {
    await addAccount(db, email, {}, tick());
    await db.updateTable("onboarding_emails").set({ state: "sent", attempts: 1 }).execute();
    await db.updateTable("local_sessions").set({ last_seen_at_ms: nowMs }).execute();
    await expect(
      db.updateTable("onboarding_emails").set({ state: "sent", account_id: "x" }).execute(),
    ).rejects.toThrow("auditedTransaction()");
    await expect(db.updateTable("local_sessions").set({ account_id: "x" }).execute()).rejects.toThrow(
      "auditedTransaction()",
    );
  });

  it("is listed page by page, by any name of a person, by actor, and since a time", async () => {
    for (let n = 0; n < 11; n++) await suppressEmail(db, `${n}@example.com`, tick());
    // The first page ends between two entries of one instant. At once, because single inserts would take longer than the rest.
    const more = Array.from({ length: 990 }, (_, n) => `('${n}', ${atMs - (n >> 1)}, 'visitor', 'test')`);
    await stage.query(`INSERT INTO audit_entries (id, at_ms, who, what) VALUES ${more.join(", ")}`);
    expect(await summaries()).toHaveLength(1001);
    const count = async (filter: Parameters<typeof listAudit>[1]) => {
      let rows = 0;
      for await (const page of listAudit(db, filter)) rows += page.length;
      return rows;
    };
    expect(await count({ whom: ["7@example.com", "8@example.com"] })).toBe(2);
    expect(await count({ who: "clerk" })).toBe(0);
    expect(await count({ sinceMs: nowMs - 9 })).toBe(10);
    expect(await count({ maxRows: 600 })).toBe(600);
  });
});
