import { randomBytes, randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { type LimitState, monthOf, spentInMonth, watchBalance } from "@/lib/accounts/credits/credit-watch";
import { maxThousandths, spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { Refusal } from "@/lib/backend/refusals";
import { asIso } from "@/lib/config/instants";
import type { Tables } from "@/lib/db/tables";

/** What a backend asks of the ledger. Amounts are thousandths, and above 0 but for {@link Settle}. */
export type CreditWrite = Spend | Hold | Settle | Release | Reverse;
type Spend = {
  kind: "spend";
  account: string;
  thousandths: number;
  reason: string;
  reference?: string | undefined;
};
type Hold = Omit<Spend, "kind"> & { kind: "hold"; expiresInSeconds: number };
/** Takes this much, or what is held: less frees the rest, and more has to be there. */
type Settle = { kind: "settle"; hold: string; thousandths?: number | undefined };
type Release = { kind: "release"; hold: string };
/** Gives this much of what an entry spent back, or what is left of it. */
type Reverse = { kind: "reverse"; entry: string; thousandths?: number | undefined; reason: string };

export type AccountState = Pick<Tables["accounts"], "id" | "credit_thousandths" | "held_thousandths"> & {
  /** The time and place of its last entry; null if it has none. */
  last_at_ms: number | null;
  last_place: number | null;
} & LimitState;
export type HoldRow = Tables["holds"];
export type EntryRow = Selectable<Tables["credit_entries"]>;

/**
 * What came of a write: the entry or the hold, with what the account can spend after it. It is stored, so it repeats nothing
 * of what the backend wrote in words, which could name a person.
 */
export type Outcome = (ReturnType<typeof toEntry> | ReturnType<typeof toHold>) & { balance: number };

const toEntry = ({ id, account_id, thousandths, created_at_ms }: EntryRow) => ({
  id,
  account: account_id,
  credits: toCredits(thousandths),
  createdAt: asIso(created_at_ms),
});

/** `entry` is the id of the entry that settled it. */
const toHold = ({ id, account_id, thousandths, closed_as, entry_id, ...times }: HoldRow) => ({
  id,
  account: account_id,
  credits: toCredits(thousandths),
  state: closed_as ?? "open",
  entry: entry_id,
  createdAt: asIso(times.created_at_ms),
  expiresAt: asIso(times.expires_at_ms),
});

/**
 * The part of the ledger that some writes concern, in memory: its accounts are locked, and their expired holds are closed.
 * Writes change it one after the other, and what has changed is stored as a whole. So there is one text of each rule for both
 * engines, and a thousand writes cost a few statements.
 */
export class LedgerDraft {
  readonly newEntries: EntryRow[] = [];
  readonly newHolds: HoldRow[] = [];
  readonly changed = new Set<AccountState | HoldRow | EntryRow>();
  /** The accounts whose balance has fallen so low that their owners want to know, and what was left. */
  readonly fallen: { account: AccountState; left: number }[] = [];
  /** The accounts that lacked credits for a write. */
  private readonly lacking = new Set<AccountState>();
  private readonly undo: (() => void)[] = [];

  constructor(
    readonly accounts: ReadonlyMap<string, AccountState>,
    readonly holds: ReadonlyMap<string, HoldRow>,
    readonly entries: ReadonlyMap<string, EntryRow>,
    private readonly nowMs: number,
  ) {
    // Holds may have expired since the last write.
    for (const account of accounts.values()) this.watch(account, false);
  }

  /** Runs work, and takes back what it has changed if it throws. */
  attempt<T>(work: () => T): T {
    const before = this.undo.length;
    try {
      return work();
    } catch (failure) {
      while (this.undo.length > before) this.undo.pop()?.();
      throw failure;
    }
  }

  /** Does what a backend asks. Throws a {@link Refusal}. */
  write(backend: string, write: CreditWrite): Outcome {
    return this.attempt(() => {
      const outcome = this.execute(backend, write);
      const account = this.account(outcome.account);
      this.watch(account, write.kind === "reverse");
      this.buyIfLow(account);
      return outcome;
    });
  }

  /** Has a pack bought also for who has turned that on with too few credits already, once work is refused for it. */
  buyForLacking(): void {
    for (const account of this.lacking) this.buyIfLow(account);
  }

  private buyIfLow(account: AccountState): void {
    const { top_up_below_thousandths: below, top_up_due_ms } = account;
    if (below !== null && top_up_due_ms === null && spendable(account) < below)
      this.change(account, { top_up_due_ms: this.nowMs });
  }

  private execute(backend: string, write: CreditWrite): Outcome {
    switch (write.kind) {
      case "spend":
        return this.spend(this.account(write.account), {
          ...ofBackend(backend, write),
          thousandths: -write.thousandths,
        });
      case "hold":
        return this.hold(backend, write);
      case "settle":
        return this.settle(backend, write);
      case "release":
        return this.close(this.openHold(write.hold), "released");
      case "reverse":
        return this.reverse(backend, write);
    }
  }

  /** Notes whether a balance has fallen below what its owner wants to hear of. */
  private watch(account: AccountState, isGiven: boolean): void {
    const left = spendable(account);
    const { low_since_ms, hasFallen } = watchBalance(account, left, isGiven, this.nowMs);
    if (low_since_ms !== account.low_since_ms) this.change(account, { low_since_ms });
    if (hasFallen) this.push(this.fallen, { account, left });
  }

  private account(id: string): AccountState {
    const account = this.accounts.get(id);
    if (!account) throw new Refusal("account_not_found");
    return account;
  }

  /** Throws unless an account can spend or hold this much, and its owner's limit allows it, or as much was `promised`. */
  private require(account: AccountState, thousandths: number, promised = 0): void {
    const balance = spendable(account);
    if (thousandths > balance) {
      this.lacking.add(account);
      throw new Refusal("insufficient_credits", { balance: toCredits(balance) });
    }
    const { monthly_thousandths: limit, held_thousandths } = account;
    if (limit === null || thousandths <= promised) return;
    const { month_ms, spent_thousandths } = spentInMonth(account, this.timeOf(account));
    const left = Math.max(0, limit - spent_thousandths - held_thousandths);
    if (thousandths > left)
      throw new Refusal("monthly_limit_reached", {
        balance: toCredits(balance),
        limit: toCredits(limit),
        left: toCredits(left),
        resetsAt: asIso(monthOf(month_ms, 1)),
      });
  }

  /** When the next entry of an account is written: not before its last one, also if the clock went back. */
  private timeOf({ last_at_ms }: AccountState): number {
    return Math.max(this.nowMs, last_at_ms ?? 0);
  }

  /** Counts what is spent of a month, or given back of what was spent in it. */
  private count(account: AccountState, thousandths: number, spentAtMs = this.timeOf(account)): void {
    if (account.month_ms === null) return;
    const { month_ms, spent_thousandths } = spentInMonth(account, this.timeOf(account));
    const more = spentAtMs >= month_ms ? thousandths : 0;
    this.change(account, { month_ms, spent_thousandths: spent_thousandths + more });
  }

  private spend(account: AccountState, entry: NewEntry): Outcome {
    this.require(account, -entry.thousandths);
    this.count(account, -entry.thousandths);
    return this.toOutcome(account, toEntry(this.add(account, entry)));
  }

  private add(account: AccountState, entry: NewEntry): EntryRow {
    const atMs = this.timeOf(account);
    const place = atMs === account.last_at_ms ? (account.last_place ?? 0) + 1 : 0;
    const row = {
      ...blankEntry,
      ...entry,
      id: randomUUID(),
      account_id: account.id,
      created_at_ms: atMs,
      place,
    };
    const credit_thousandths = account.credit_thousandths + row.thousandths;
    this.change(account, { credit_thousandths, last_at_ms: atMs, last_place: place });
    this.push(this.newEntries, row);
    return row;
  }

  private hold(backend: string, write: Hold): Outcome {
    const account = this.account(write.account);
    this.require(account, write.thousandths);
    this.change(account, { held_thousandths: account.held_thousandths + write.thousandths });
    const hold: HoldRow = {
      ...ofBackend(backend, write),
      id: `hold_${randomBytes(16).toString("base64url")}`,
      account_id: account.id,
      thousandths: write.thousandths,
      created_at_ms: this.nowMs,
      expires_at_ms: this.nowMs + write.expiresInSeconds * 1000,
      closed_as: null,
      closed_at_ms: null,
      entry_id: null,
    };
    this.push(this.newHolds, hold);
    return this.toOutcome(account, toHold(hold));
  }

  private settle(backend: string, { hold: id, thousandths }: Settle): Outcome {
    const hold = this.openHold(id);
    const taken = thousandths ?? hold.thousandths;
    const account = this.account(hold.account_id);
    this.change(account, { held_thousandths: account.held_thousandths - hold.thousandths });
    this.require(account, taken, hold.thousandths);
    this.count(account, taken);
    const { reason, reference } = hold;
    const entry = { backend_id: backend, reason, reference, hold_id: id, thousandths: -taken };
    const entry_id = taken > 0 ? this.add(account, entry).id : null;
    return this.close(hold, "settled", { entry_id });
  }

  private openHold(id: string): HoldRow {
    const hold = this.holds.get(id);
    if (!hold) throw new Refusal("hold_not_found");
    if (hold.closed_as !== null) throw new Refusal("hold_closed", { state: hold.closed_as });
    return hold;
  }

  private close(hold: HoldRow, as: "settled" | "released", fields: Partial<HoldRow> = {}): Outcome {
    const account = this.account(hold.account_id);
    if (as === "released")
      this.change(account, { held_thousandths: account.held_thousandths - hold.thousandths });
    this.change(hold, { closed_as: as, closed_at_ms: this.nowMs, ...fields });
    return this.toOutcome(account, toHold(hold));
  }

  private reverse(backend: string, { entry: id, thousandths, reason }: Reverse): Outcome {
    const spent = this.entries.get(id);
    if (!spent) throw new Refusal("entry_not_found");
    const isSpend = spent.backend_id !== null && spent.thousandths < 0;
    const left = isSpend ? -spent.thousandths - spent.reversed_thousandths : 0;
    const given = thousandths ?? left;
    if (given === 0 || given > left) throw new Refusal("not_reversible", { reversible: toCredits(left) });
    const account = this.account(spent.account_id);
    if (account.credit_thousandths + given > maxThousandths) throw new Refusal("balance_too_large");
    this.change(spent, { reversed_thousandths: spent.reversed_thousandths + given });
    this.count(account, -given, spent.created_at_ms);
    const { reference } = spent;
    const entry = { backend_id: backend, reason, reference, reverses: id, thousandths: given };
    return this.toOutcome(account, toEntry(this.add(account, entry)));
  }

  private toOutcome<T>(account: AccountState, described: T): T & { balance: number } {
    return { ...described, balance: toCredits(spendable(account)) };
  }

  private change<Row extends AccountState | HoldRow | EntryRow>(row: Row, fields: Partial<Row>): void {
    const before = { ...row };
    this.undo.push(() => Object.assign(row, before));
    Object.assign(row, fields);
    this.changed.add(row);
  }

  private push<Row>(rows: Row[], row: Row): void {
    this.undo.push(() => rows.pop());
    rows.push(row);
  }
}

type NewEntry = Pick<EntryRow, "backend_id" | "thousandths" | "reason" | "reference"> & Partial<EntryRow>;

const blankEntry = {
  hold_id: null,
  reverses: null,
  reversed_thousandths: 0,
  number: null,
  amount: null,
  currency: null,
  price_id: null,
  checkout: null,
};

const ofBackend = (
  backend_id: string,
  { reason, reference = null }: { reason: string; reference?: string | null | undefined },
) => ({
  backend_id,
  reason,
  reference,
});
