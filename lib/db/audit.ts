import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import {
  ColumnNode,
  DeleteQueryNode,
  type Expression,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  RawNode,
  sql,
  TableNode,
  UpdateQueryNode,
} from "kysely";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { paginate } from "@/lib/db/pagination";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";

/** Tables that may be written without an audit entry, and why; the others only by {@link auditedTransaction}. */
export const unaudited: Partial<Record<keyof Tables, string>> = {
  app_answers: "what apps were told; their session is audited",
  backend_writes: "what a backend was answered; the ledger says what it spent and why",
  billing_progress: "how far Stripe was read",
  billing_payments: "what was paid at Stripe; what it gives is audited",
  billing_unclaimed: "nothing is given; what is given once there is an account is audited",
  billing_checkouts: "a checkout gives nothing until it is paid; what it gives then is audited",
  billing_licence_prices: "which plan a price buys is audited with the plan",
  hook_deliveries: "what the service sees of its providers' deliveries",
  plan_versions: "as the plans, which are audited",
  changed_plans: "the plans are audited, and these rows are who was told",
  events: "each is the consequence of another write, and tells it",
  event_numbers: "the service numbers the events",
  event_counters: "as event_numbers",
  webhook_deliveries: "what was sent and answered; who chose the receiver is audited",
  holds: "each says itself whose it is, why and until when; what it takes is in the ledger",
  credit_months: "what plans give is in the ledger",
  ledger_numbers: "the service numbers the entries, and no one decides about that",
  connect_state: "an app's codes and tokens change with every use; their session is audited",
  clerk_sessions_ended: "Clerk stores its sessions; our sessions that end with one are audited",
  link_keys: "the service makes them once, and no one decides about them",
  passkey_challenges: "each is one sign-in or one new passkey, which are audited",
  status_outages: "what the service sees of itself",
  sign_in_codes: "anyone may request one; sign-ins are audited",
  sign_in_emails: "as sign_in_codes",
  sign_in_mail_attempts: "as sign_in_mails",
  sign_in_mails: "as sign_in_codes; invitations are audited",
};

/** Tables whose inserts need no audit entry, and why. Updates and deletes of their rows do need one. */
export const unauditedInserts: Partial<Record<keyof Tables, string>> = {
  billing_customers: "the customer's id at Stripe; the licence that Stripe gives is audited",
  waitlist: "anyone may join, and the row has the same facts",
};

export type Columns = { [Table in keyof Tables]?: readonly (keyof Tables[Table])[] };

/** Progress columns of audited tables, which may be updated without an audit entry. */
const progress: Columns = {
  accounts: ["trial_mail_done_ms", "trial_end_told_ms", "credits_due_ms"],
  billing_subscriptions: [
    "ending_mail_ms",
    "last_event",
    "last_event_at_ms",
    "invoice_id",
    "invoice_status",
    "amount_due",
    "open_invoices",
    "next_attempt_ms",
    "currency",
  ],
  credit_entries: ["account_id", "checkout"], // of an account that is erased, which is audited
  credit_limits: ["top_up_due_ms"],
  email_changes: ["told_at_ms"],
  local_sessions: [
    "last_seen_at_ms",
    "expires_at_ms",
    "checked_at_ms",
    "told",
    "end_mail_at_ms",
    "renewed_from",
    "bound_at_ms",
    "in_turn_since_ms",
    "end_told_ms",
  ],
  operator_passkeys: ["counter", "last_used_at_ms"],
  operator_sessions: ["last_used_at_ms"],
  passkeys: ["counter", "last_used_at_ms"],
  webhooks: ["position", "failing_since_ms", "stopped_at_ms", "lease_by", "lease_until_ms"],
  waitlist: ["confirmation_hash", "confirmation_mailed_at_ms", "confirmed_at_ms", "unconfirmed_until_ms"],
  onboarding_emails: [
    "state",
    "recipient_hash",
    "next_attempt_at_ms",
    "lease_until_ms",
    "attempts",
    "first_attempt_at_ms",
    "failure",
  ],
};

/** An operator's command, or an operator in the office by name. */
export type Operator = "operator" | `operator ${string}`;

/** The maker of a change: an operator, the service itself, a provider's webhook, or a person on a page. */
export type Actor =
  | Operator
  | "service"
  | "clerk"
  | "resend"
  | "stripe"
  | "owner"
  | "visitor"
  | "app"
  | `backend ${string}`
  | "invitation"
  | "unsubscribe link"
  /** Someone who pressed the button on the page of a mail's link. */
  | "mail link"
  /** Someone who is signed in for an owner at Clerk (impersonation), by the subject that Clerk names. */
  | `impersonator ${string}`;

export type AuditedChange = {
  by: Actor;
  /** For example `account set`. */
  what: string;
  /** An email in lower case; if none is known, another identifier of the affected record. */
  whom: string | null;
  /** Why, or at what price, next to the state after it. */
  facts?: object | undefined;
  /** Reads the audited state; called before the change, and after it with its result. */
  readState: (transaction: Kysely<Tables>, result?: unknown) => Promise<unknown>;
};

/**
 * Runs a change and writes its audit entry in one transaction: who changed what, for whom, and the state before and
 * after. Audited tables cannot be written in any other way. If nothing changes, no entry is written. As in every
 * {@link transact}, `readState` and `work` may run several times.
 */
export function auditedTransaction<T>(
  db: Kysely<Tables>,
  { by, what, whom, facts, readState }: AuditedChange,
  nowMs: number,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const change = async (guarded: Kysely<Tables>) => {
    const writes = new CountWrites();
    const transaction = guarded.withoutPlugins().withPlugin(writes);
    const before = await readState(transaction);
    const result = await work(transaction);
    const state = await readState(transaction, result);
    const isSame = JSON.stringify(before) === JSON.stringify(state);
    const after = facts ? { ...(state as object), ...facts } : state;
    if (writes.rows > 0 || !isSame) await recordAudit(transaction, { by, what, whom, before, after }, nowMs);
    return result;
  };
  return transact(db, change);
}

/**
 * Writes an audit entry. One of a decision that changes no audited table, for example that an owner declined an app, has
 * no state before.
 */
export async function recordAudit(
  db: Kysely<Tables>,
  about: Pick<AuditedChange, "by" | "what" | "whom"> & { before?: unknown; after: unknown },
  nowMs: number,
): Promise<void> {
  const { by, what, whom } = about;
  const entry = { id: randomUUID(), at_ms: nowMs, who: actorName(by), what, whom };
  await insertEntry(db.withoutPlugins(), { ...entry, ...diff(about.before, about.after) });
}

const insertEntry = frequentStatement((db, entry: AuditEntry) =>
  db.insertInto("audit_entries").values(entry),
);

/** Rejects writes outside {@link auditedTransaction}, except to {@link unaudited} tables and progress columns. */
export const rejectUnaudited: KyselyPlugin = {
  transformQuery({ node }) {
    const table = auditedTable(node);
    if (table) throw new Error(`${table} is written to by auditedTransaction() of lib/db/audit.ts only`);
    return node;
  },
  async transformResult({ result }) {
    return result;
  },
};

class CountWrites implements KyselyPlugin {
  rows = 0;
  private readonly queries = new WeakSet<object>();

  transformQuery({ node, queryId }: Parameters<KyselyPlugin["transformQuery"]>[0]) {
    if (auditedTable(node)) this.queries.add(queryId);
    return node;
  }

  async transformResult({ result, queryId }: Parameters<KyselyPlugin["transformResult"]>[0]) {
    if (this.queries.has(queryId)) this.rows += Number(result.numAffectedRows ?? result.rows.length);
    return result;
  }
}

type QueryNode = Parameters<KyselyPlugin["transformQuery"]>[0]["node"];

function auditedTable(node: QueryNode): string | undefined {
  let target: object | undefined;
  if (InsertQueryNode.is(node)) target = node.into;
  else if (UpdateQueryNode.is(node)) target = node.table;
  else if (DeleteQueryNode.is(node)) target = node.from.froms[0];
  else if (RawNode.is(node) && !isReading(node)) return "what raw SQL names";
  if (!target) return undefined;
  if (!TableNode.is(target as TableNode)) return "more than one table";
  const { name } = (target as TableNode).table.identifier;
  const reasons = InsertQueryNode.is(node) ? { ...unaudited, ...unauditedInserts } : unaudited;
  return Object.hasOwn(reasons, name) || updatesOnly(node, progress) ? undefined : name;
}

const isReading = ({ sqlFragments }: RawNode) => /^\s*(?:select|pragma)\b/i.test(sqlFragments[0] ?? "");

/** Whether an update changes these columns of its table alone. */
export function updatesOnly(node: QueryNode, allowed: Columns): boolean {
  if (!UpdateQueryNode.is(node) || !node.table || !TableNode.is(node.table)) return false;
  const columns: readonly string[] | undefined = allowed[node.table.table.identifier.name as keyof Tables];
  const names = (node.updates ?? []).map(({ column }) => ColumnNode.is(column) && column.column.name);
  return columns !== undefined && names.every((name) => name && columns.includes(name));
}

/** Adds the operator's user name on the machine that runs the command. */
function actorName(by: Actor): string {
  if (by !== "operator") return by;
  try {
    return `operator ${process.env.SUDO_USER ?? userInfo().username}`;
  } catch {
    return by; // A container's user may have no name.
  }
}

/** The fields that differ, as JSON; null where a state does not exist. */
function diff(before: unknown, after: unknown): { before: string | null; after: string | null } {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const pick = (from: unknown, other: unknown) => {
    if (!from) return null;
    const fields = from as Record<string, unknown>;
    const others = (other ?? {}) as Record<string, unknown>;
    const differs = (name: string) => JSON.stringify(fields[name]) !== JSON.stringify(others[name]);
    return JSON.stringify(Object.fromEntries([...names].filter(differs).map((name) => [name, fields[name]])));
  };
  return { before: pick(before, after), after: pick(after, before) };
}

export type AuditEntry = Tables["audit_entries"];

export type AuditFilter = {
  /** Entries about any of these: an email, its hash, an account id. */
  whom?: (string | Expression<string | null>)[] | undefined;
  who?: string | undefined;
  what?: string | undefined;
  sinceMs?: number | undefined;
  /** Excluded. */
  untilMs?: number | undefined;
  /** Only older entries than this one. */
  after?: Pick<AuditEntry, "at_ms" | "id"> | undefined;
  maxRows?: number | undefined;
};

/** Lists the entries page by page, newest first. */
export function listAudit(db: Kysely<Tables>, { maxRows, ...filter }: Omit<AuditFilter, "after"> = {}) {
  return paginate<AuditEntry>(
    (after, limit) =>
      auditEntries(db, { ...filter, after })
        .limit(limit)
        .execute(),
    maxRows,
  );
}

/** The entries after a place and before an instant, oldest first, at most a thousand. */
export function listSince(
  db: Kysely<Tables>,
  { at_ms, id }: Pick<AuditEntry, "at_ms" | "id">,
  untilMs: number,
): Promise<AuditEntry[]> {
  return auditEntries(db, { untilMs })
    .clearOrderBy()
    .where(({ eb, refTuple, tuple }) => eb(refTuple("at_ms", "id"), ">", tuple(at_ms, id)))
    .orderBy("at_ms")
    .orderBy("id")
    .limit(1000)
    .execute();
}

/** The query of the entries that a filter leaves, newest first. */
export function auditEntries(
  db: Kysely<Tables>,
  { whom, who, what, sinceMs, untilMs, after }: Omit<AuditFilter, "maxRows">,
) {
  let query = db
    .selectFrom("audit_entries")
    .select(["id", "at_ms", "who", "what", "whom", "before", "after"])
    .orderBy("at_ms", "desc")
    .orderBy("id", "desc");
  // A person has few entries. SQLite counts none, and would read by the index of the actor or the kind, which have all others'.
  const unindexed = (column: "who" | "what") =>
    whom ? sql<string>`coalesce(${sql.ref(column)}, '')` : column;
  if (whom) query = query.where("whom", "in", whom);
  if (who) query = query.where(unindexed("who"), "=", who);
  if (what) query = query.where(unindexed("what"), "=", what);
  if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs);
  if (untilMs !== undefined) query = query.where("at_ms", "<", untilMs);
  if (after) {
    const { at_ms, id } = after;
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("at_ms", "id"), "<", tuple(at_ms, id)));
  }
  return query;
}

/** The kind of the entry that `backup` makes once its file is written. */
export const backedUp = "backup";

/** When the last backup was made by `backup`, in Unix milliseconds; `undefined` if none is known. */
export async function findLastBackup(db: Kysely<Tables>): Promise<number | undefined> {
  const [last] = await auditEntries(db, { what: backedUp }).limit(1).execute();
  return last?.at_ms;
}
