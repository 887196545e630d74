import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { auditedAccount } from "@/lib/accounts/accounts";
import { askForEmail, confirmEmailChange } from "@/lib/accounts/email-change";
import { addAccount } from "@/lib/accounts/invitations";
import { usePasskey } from "@/lib/auth/passkeys/passkeys";
import { networksOf, recordNetwork } from "@/lib/auth/sessions/renewal-networks";
import { keepCustomer, keepPayments } from "@/lib/billing/customer/purchases";
import { auditedTransaction, listAudit } from "@/lib/db/audit";
import { transact } from "@/lib/db/transaction";
import { hashMailbox } from "@/lib/mail/suppressions";
import { replaceConfirmation } from "@/lib/mail/waitlist-mail";
import { startStageForEach } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";

/*
 * Row locks: a writer holds the row until all who want it wait, so that what reads it without
 * the lock reads what was before.
 */

const email = "ceo@example.com";
const nowMs = Date.parse("2027-01-31T09:00:00Z");

describe.each(everyEngine)("who waits for a row on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);

  /** Has all begin while a writer, who does this, has not finished. Returns what came of each. */
  async function behind<T>(sql: string, ...all: (() => Promise<T>)[]): Promise<T[]> {
    const finish = await stage.change(sql);
    const begun = all.map((act) => act());
    const waits =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    if (engine.name === "PostgreSQL")
      await eventually(async () => expect(await stage.query(waits)).toHaveLength(all.length));
    else await sleep(20);
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

  it("to ask for another email is counted", async () => {
    const { id } = await admit();
    const ask = (n: number) => () =>
      askForEmail(db, { id, email }, { to: `new-${n}@example.com`, isMailProved: false }, nowMs);
    const came = await behind(unchanged("accounts"), ask(1), ask(2), ask(3), ask(4));
    expect(came.filter((problem) => problem === "often")).toHaveLength(1);
    expect(await stage.query(`SELECT id FROM email_changes WHERE until_ms > ${nowMs}`)).toHaveLength(1);
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
          { table: "passkeys", credentialId: "credential", challenge, counter: 5 },
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
    await behind(
      unchanged("local_sessions"),
      ...all.map(
        (network) => () =>
          transact(db, (transaction) => recordNetwork(transaction, "s", { network, isBound: false }, nowMs)),
      ),
    );
    const [row] = await stage.query("SELECT kind, renewed_from, network FROM local_sessions");
    expect(networksOf(row as never).toSorted()).toEqual(all);
  });
});
