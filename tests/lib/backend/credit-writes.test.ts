import { describe, expect, it, vi } from "vitest";
import { addCredits, findAccount, setAccount } from "@/lib/accounts/accounts";
import { spendable } from "@/lib/accounts/credits/ledger";
import type { CreditWrite } from "@/lib/backend/credit-rules";
import type { WriteRequest } from "@/lib/backend/credit-writes";
import { listAccountEntries, listAllEntries } from "@/lib/backend/entry-list";
import { writeCredits } from "@/lib/backend/write-groups";
import type { Db } from "@/lib/db/store";
import { StoreOutage } from "@/lib/db/store-outage";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";

const startMs = Date.UTC(2027, 0, 1);

/** A request of one write, whose answer is what came of it. */
const toRequest = (key: string, write: CreditWrite): WriteRequest => ({
  backend: "worker",
  keyHash: key,
  digest: JSON.stringify(write),
  writes: [write],
  answer: ([outcome]) => {
    if (outcome instanceof Error) throw outcome;
    return JSON.stringify(outcome);
  },
});

let keys = 0;

async function write(db: Db, write: CreditWrite, { key = `key-${keys++}`, atMs = startMs } = {}) {
  return JSON.parse(await writeCredits(db, toRequest(key, write), () => atMs));
}

const spend = (credits: number, account = "acc_1") =>
  ({ kind: "spend", account, thousandths: credits * 1000, reason: "a page", reference: "job 7" }) as const;
const hold = (credits: number, expiresInSeconds = 60) =>
  ({ ...spend(credits), kind: "hold", expiresInSeconds }) as const;

/** Accounts with these credits: `acc_1`, `acc_2` and so on. */
async function open(stage: Stage, ...credits: number[]): Promise<Db> {
  for (const [at, amount] of credits.entries()) {
    await stage.query(
      `INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths) VALUES ('acc_${at + 1}', 'ceo${at + 1}@example.com', 'hobby', 0, ${amount * 1000})`,
    );
    if (amount > 0)
      await stage.query(
        `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms) VALUES ('first-${at + 1}', 'acc_${at + 1}', ${amount * 1000}, 'given', 0)`,
      );
  }
  return stage.open();
}

const balanceOf = async (db: Db, atMs = startMs, email = "ceo1@example.com") =>
  spendable(await findAccount(db, email, atMs)) / 1000;

describe.each(engines)("the writes of backends on $name", (engine) => {
  it("spend what is there, to the thousandth, and nothing more", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 1);
    expect(await write(db, spend(0.999))).toEqual({
      id: expect.any(String),
      account: "acc_1",
      credits: -0.999,
      createdAt: "2027-01-01T00:00:00.000Z",
      balance: 0.001,
    });
    await expect(write(db, spend(0.002))).rejects.toMatchObject({
      refusal: "insufficient_credits",
      fields: { balance: 0.001 },
    });
    expect(await write(db, spend(0.001))).toMatchObject({ balance: 0 });
    await expect(write(db, spend(1, "acc_9"))).rejects.toMatchObject({ refusal: "account_not_found" });
    // The ledger is the record: the audit does not repeat it.
    expect(await stage.query("SELECT what FROM audit_entries WHERE what <> 'keys make'")).toEqual([]);
    await stage.clear();
  });

  it("answer a repeated key with the first answer, for ever, and refuse another request with it", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 6);
    const request = toRequest("one", spend(1));
    const of = (backend: string) => writeCredits(db, { ...request, backend }, () => startMs);
    const begun = vi.spyOn(db, "transaction");
    const [first, others, ...together] = await Promise.all(["worker", "meter", "worker", "worker"].map(of));
    expect(others, "another backend's").not.toBe(first);
    expect(together).toEqual([first, first]);
    expect(begun.mock.calls.length, "none is undone for the key that they share").toBeLessThan(4);
    const other = await stage.open();
    expect(await writeCredits(other, request, () => startMs + 7 * 86_400_000)).toBe(first);
    expect(await balanceOf(db)).toBe(4);
    await expect(write(db, spend(2), { key: "one" })).rejects.toMatchObject({ refusal: "key_reused" });
    // What was refused wrote nothing, so its key can be used once there is enough.
    await expect(write(db, spend(6), { key: "two" })).rejects.toMatchObject({
      refusal: "insufficient_credits",
    });
    await addCredits(db, "ceo1@example.com", { thousandths: 2000, reason: "a present" }, startMs);
    expect(await write(db, spend(6), { key: "two" })).toMatchObject({ balance: 0 });
    // The first answer also comes where nothing is left.
    expect(await writeCredits(other, request, () => startMs)).toBe(first);
    await stage.clear();
  });

  it("hold credits, so that nothing else can spend them, and settle less, all or more", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 10);
    const { id, balance } = await write(db, hold(8));
    expect(balance).toBe(2);
    expect(await balanceOf(db)).toBe(2);
    await expect(write(db, spend(2.001))).rejects.toMatchObject({ fields: { balance: 2 } });
    await expect(write(db, hold(2.001))).rejects.toMatchObject({ fields: { balance: 2 } });
    const less = (thousandths: number) =>
      addCredits(db, "ceo1@example.com", { thousandths, reason: "taken" }, startMs);
    await expect(less(-2001)).rejects.toThrow("below 0");
    expect(await less(-1000)).toBe(1000);
    // Settling less gives the rest back at once.
    const settled = await write(db, { kind: "settle", hold: id, thousandths: 500 });
    expect(settled).toMatchObject({ id, state: "settled", entry: expect.any(String), balance: 8.5 });
    await expect(write(db, { kind: "settle", hold: id })).rejects.toMatchObject({
      refusal: "hold_closed",
      fields: { state: "settled" },
    });
    const more = await write(db, hold(8));
    await expect(write(db, { kind: "settle", hold: more.id, thousandths: 8501 })).rejects.toMatchObject({
      refusal: "insufficient_credits",
      fields: { balance: 8.5 },
    });
    expect(await balanceOf(db)).toBe(0.5);
    expect(await write(db, { kind: "settle", hold: more.id, thousandths: 8500 })).toMatchObject({
      balance: 0,
    });
    await less(3000);
    const nothing = await write(db, hold(1));
    expect(await write(db, { kind: "settle", hold: nothing.id, thousandths: 0 })).toMatchObject({
      state: "settled",
      entry: null,
      balance: 3,
    });
    const released = await write(db, hold(3));
    expect(await write(db, { kind: "release", hold: released.id })).toMatchObject({
      state: "released",
      balance: 3,
    });
    await expect(write(db, { kind: "release", hold: "none" })).rejects.toMatchObject({
      refusal: "hold_not_found",
    });
    await stage.clear();
  });

  it("free a hold at the instant at which it expires, without anything that sweeps", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 1);
    const { id } = await write(db, hold(1, 60));
    const endMs = startMs + 60_000;
    expect(await balanceOf(db, endMs - 1)).toBe(0);
    expect(await balanceOf(db, endMs)).toBe(1);
    await expect(write(db, spend(1), { atMs: endMs - 1 })).rejects.toMatchObject({ fields: { balance: 0 } });
    await expect(write(db, { kind: "settle", hold: id }, { atMs: endMs })).rejects.toMatchObject({
      refusal: "hold_closed",
      fields: { state: "expired" },
    });
    const again = await write(db, hold(1, 60), { atMs: endMs });
    expect(again).toMatchObject({ balance: 0 });
    // An operator takes, and sets, what is there.
    const taking = addCredits(
      db,
      "ceo1@example.com",
      { thousandths: -1000, reason: "taken" },
      endMs + 59_999,
    );
    await expect(taking).rejects.toThrow("below 0");
    await setAccount(db, "ceo1@example.com", { credit_thousandths: 7000 }, endMs + 60_000);
    expect(await balanceOf(db, endMs + 60_000)).toBe(7);
    expect(await stage.query("SELECT closed_as FROM holds")).toEqual([
      { closed_as: "expired" },
      { closed_as: "expired" },
    ]);
    await stage.clear();
  });

  it("free the holds of several accounts that expire together, each its own", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 1, 2);
    await write(db, hold(1, 60));
    await write(db, { ...hold(2, 60), account: "acc_2" });
    const both: WriteRequest = {
      ...toRequest("both", spend(1)),
      writes: [spend(1), spend(2, "acc_2")],
      answer: (outcomes) => JSON.stringify(outcomes),
    };
    const answer = await writeCredits(db, both, () => startMs + 60_000);
    expect(JSON.parse(answer)).toMatchObject([{ balance: 0 }, { balance: 0 }]);
    const held = await stage.query("SELECT held_thousandths FROM accounts");
    expect(held.map(({ held_thousandths }) => Number(held_thousandths))).toEqual([0, 0]);
    await stage.clear();
  });

  it("give a spend back in parts, never more than it was", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 5);
    const { id } = await write(db, spend(3));
    const reverse = (credits?: number, entry: string = id) =>
      write(db, {
        kind: "reverse",
        entry,
        thousandths: credits && credits * 1000,
        reason: "the page failed",
      });
    expect(await reverse(1)).toMatchObject({ credits: 1, balance: 3 });
    await expect(reverse(2.001)).rejects.toMatchObject({
      refusal: "not_reversible",
      fields: { reversible: 2 },
    });
    const rest = await reverse();
    expect(rest).toMatchObject({ credits: 2, balance: 5 });
    await expect(reverse()).rejects.toMatchObject({ fields: { reversible: 0 } });
    await expect(reverse(1, rest.id)).rejects.toMatchObject({ refusal: "not_reversible" });
    await expect(reverse(1, "first-1")).rejects.toMatchObject({ refusal: "not_reversible" });
    const { entries } = await listAccountEntries(db, "acc_1", undefined, 10);
    const given = { reverses: id, reason: "the page failed", reference: "job 7", backend: "worker" };
    expect(entries).toEqual([
      expect.objectContaining({ credits: 5, backend: null, reason: "given" }),
      expect.objectContaining({ credits: -3, backend: "worker", reason: "a page", reference: "job 7" }),
      expect.objectContaining({ credits: 1, ...given }),
      expect.objectContaining({ credits: 2, ...given }),
    ]);
    await expect(reverse(1, "none")).rejects.toMatchObject({ refusal: "entry_not_found" });
    await stage.clear();
  });

  it("are refused or done as a whole, a thousand at once, in the order in which they were sent", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 600, 500);
    const writes = Array.from({ length: 1000 }, (_, at) => spend(1, `acc_${(at % 2) + 1}`));
    const batch = (key: string, isWhole: boolean): WriteRequest => ({
      ...toRequest(key, spend(1)),
      digest: `${isWhole}`,
      writes: [...writes, spend(100, "acc_2")],
      answer: (outcomes) => {
        const refusal = outcomes.find((outcome) => outcome instanceof Error);
        if (isWhole && refusal) throw refusal;
        return JSON.stringify(
          outcomes.map((outcome) => (outcome instanceof Error ? outcome.message : outcome.balance)),
        );
      },
    });
    await expect(writeCredits(db, batch("whole", true), () => startMs)).rejects.toMatchObject({
      fields: { balance: 0 },
    });
    expect([await balanceOf(db), await balanceOf(db, startMs, "ceo2@example.com")]).toEqual([600, 500]);
    const answer = await writeCredits(db, batch("each", false), () => startMs);
    expect(JSON.parse(answer)).toEqual([
      ...writes.map((_, at) => (at % 2 ? 499 : 599) - Math.floor(at / 2)),
      "The account has too few credits.",
    ]);
    // An answer to several accounts is none's, so that the others are not charged again once one is erased.
    await stage.query("DELETE FROM backend_writes WHERE account_id = 'acc_1'");
    expect(await writeCredits(db, batch("each", false), () => startMs)).toBe(answer);
    await stage.clear();
  });

  it("are listed once each, in order and complete, of one account and of all", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 50, 50);
    const other = await stage.open();
    const seen: string[] = [];
    let after: string | undefined;
    const readOn = async (from: Db) => {
      for (;;) {
        const page = await listAllEntries(from, after, 7);
        seen.push(...page.entries.map(({ id }) => id));
        after = page.next ?? undefined;
        if (page.entries.length < 7) return;
      }
    };
    // The clock goes back, and writers of two instances end in any order.
    const all = Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        write(at % 2 ? db : other, spend(1, `acc_${(at % 2) + 1}`), { atMs: startMs - at }),
      ),
    );
    await Promise.all([readOn(db), all]);
    await readOn(other);
    const ofOne: string[] = [];
    for (let from: string | undefined; ; ) {
      const page = await listAccountEntries(db, "acc_1", from, 7);
      if (page.entries.length === 0) break;
      ofOne.push(...page.entries.map(({ id }) => id));
      from = page.next ?? undefined;
    }
    expect(ofOne).toHaveLength(31);
    expect(seen).toHaveLength(62);
    expect(new Set(seen).size).toBe(62);
    expect(seen.filter((id) => ofOne.includes(id))).toEqual(ofOne);
    const last = ofOne.at(-1) as string;
    expect(await listAccountEntries(db, "acc_1", last, 7)).toEqual({ entries: [], next: last });
    expect((await listAllEntries(db, seen.at(-2), 7)).entries.map(({ id }) => id)).toEqual(seen.slice(-1));
    await expect(listAccountEntries(db, "acc_2", last, 7)).rejects.toMatchObject({
      refusal: "entry_not_found",
    });
    await expect(listAllEntries(db, "none", 7)).rejects.toMatchObject({ refusal: "entry_not_found" });
    await stage.clear();
  });

  it("are not listed after an entry that a restored store lacks, so that no program leaves out what came since", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 50);
    expect(await listAllEntries(db, "0", 7), "as a program of before began").toMatchObject({
      entries: [{ id: "first-1" }],
      next: "first-1",
    });
    const lost = await write(db, spend(1));
    const { next } = await listAllEntries(db, "first-1", 7);
    expect(next).toBe(lost.id);
    // As the backup had it.
    await stage.query("DELETE FROM credit_entries WHERE number = 2");
    await stage.query("UPDATE ledger_numbers SET last = 1");
    for (const after of [lost.id, "2"])
      await expect(listAllEntries(db, after, 7)).rejects.toMatchObject({ refusal: "entry_not_found" });
    const since = await write(db, spend(2));
    expect(await listAllEntries(db, "1", 7)).toMatchObject({ entries: [{ id: since.id }], next: since.id });
    await expect(listAllEntries(db, lost.id, 7)).rejects.toMatchObject({ refusal: "entry_not_found" });
    await stage.clear();
  });

  it("fail alone where one cannot be decided, and those that share its transaction are written", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 3);
    const decide = () => Promise.reject(new Error("a mistake of ours"));
    const outcomes = await Promise.allSettled([
      write(db, spend(1)),
      writeCredits(db, { ...toRequest("undecided", spend(1)), decide }, () => startMs),
      write(db, spend(1)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await balanceOf(db)).toBe(1);
    await stage.clear();
  });

  it("of several instances at once spend the last credit once", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 1);
    const instances = [db, await stage.open(), await stage.open()];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1000 }, (_, at) => write(instances[at % 3] as Db, spend(1))),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.map((outcome) => (outcome as PromiseRejectedResult).reason.refusal)).toEqual(
      Array(999).fill("insufficient_credits"),
    );
    expect(await balanceOf(db)).toBe(0);
    await stage.clear();
  });

  it("of several instances with one key at once are one, whatever they ask", async () => {
    const stage = await engine.prepare();
    const db = await open(stage, 50, 50);
    const instances = [db, await stage.open()];
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map((at) =>
        write(instances[at % 2] as Db, spend(1, `acc_${Math.ceil(at / 2)}`), { key: "same" }),
      ),
    );
    const done = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(new Set(done.map(({ id }) => id)).size).toBe(1);
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(2);
    expect(await stage.query("SELECT id FROM credit_entries WHERE thousandths < 0")).toHaveLength(1);
    await stage.clear();
  });

  // The embedded store has one writer at a time, who sees what the one before has written.
  if (engine.name === "PostgreSQL") {
    it("of two instances with one key are one also where both have read that it is free", async () => {
      const stage = await engine.prepare({ conflicts: false });
      const db = await open(stage, 5, 5);
      const other = await stage.open();
      const letGo = await stage.change("LOCK TABLE backend_writes IN SHARE ROW EXCLUSIVE MODE");
      const asked = Promise.allSettled([
        write(db, spend(1), { key: "same" }),
        write(other, spend(1, "acc_2"), { key: "same" }),
      ]);
      const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'backend_writes'::regclass";
      await eventually(async () => expect(await stage.query(waiting)).toHaveLength(2));
      await letGo();
      expect((await asked).map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await stage.query("SELECT id FROM credit_entries WHERE thousandths < 0")).toHaveLength(1);
      await stage.clear();
    });
  }
});

it("requests that share a transaction fail together in an outage, and wait for no transaction of their own", async () => {
  let begun = 0;
  const away = () => Promise.reject(new StoreOutage(new Error("away")));
  const transaction = () => ({
    execute() {
      begun++;
      return away();
    },
  });
  const db = { isTransaction: false, transaction } as unknown as Db;
  const outcomes = await Promise.allSettled([write(db, spend(1)), write(db, spend(1)), write(db, spend(1))]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(begun).toBe(1);
});
