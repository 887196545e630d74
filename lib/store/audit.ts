import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import {
  DeleteQueryNode,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  sql,
  TableNode,
  UpdateQueryNode,
} from "kysely";
import { inPages } from "@/lib/store/paging";
import type { Tables } from "@/lib/store/tables";

/** What people and operators decide. Sessions, codes and mails come and go by themselves, and are not among it. */
const audited: readonly string[] = [
  "accounts",
  "connect_clients",
  "credit_entries",
  "email_suppressions",
  "invitations",
  "signing_keys",
  "site_banner",
  "waitlist",
];

/** On whose word something changes: a command's, the service's own, a provider's webhook, or somebody's at a page. */
export type Actor =
  | "operator"
  | "service"
  | "clerk"
  | "resend"
  | "owner"
  | "visitor"
  | "invitation"
  | "unsubscribe link";

export type Change = {
  by: Actor;
  /** For example `account set`. */
  what: string;
  /** An email in lower case or, where none is known, what else names whose it is. */
  whom: string | null;
  /** Reads what is to change; asked before and after. */
  look: (transaction: Kysely<Tables>) => Promise<unknown>;
};

/**
 * Changes something in one transaction, and writes who did, what, to whom, and what was there before and after. Nothing
 * else can write to the tables concerned; where nothing changes, nothing is written.
 */
export function change<T>(
  db: Kysely<Tables>,
  { by, what, whom, look }: Change,
  nowMs: number,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (guarded) => {
    const writes = new CountWrites();
    const transaction = guarded.withoutPlugins().withPlugin(writes);
    const before = await look(transaction);
    const result = await work(transaction);
    const after = await look(transaction);
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    if (writes.rows > 0 || !isSame) {
      const entry = { who: nameOf(by), what, whom, ...differing(before, after) };
      await transaction
        .insertInto("audit_entries")
        .values({ id: randomUUID(), at_ms: nowMs, ...entry })
        .execute();
    }
    return result;
  });
}

/** Refuses what would change an audited table past {@link change}. */
export const refuseUnaudited: KyselyPlugin = {
  transformQuery({ node }) {
    const table = auditedTable(node);
    if (table) throw new Error(`${table} is written to by change() of lib/store/audit.ts only`);
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

/** The table that a query writes to, if that is audited. */
function auditedTable(node: Parameters<KyselyPlugin["transformQuery"]>[0]["node"]): string | undefined {
  let target: object | undefined;
  if (InsertQueryNode.is(node)) target = node.into;
  else if (UpdateQueryNode.is(node)) target = node.table;
  else if (DeleteQueryNode.is(node)) target = node.from.froms[0];
  if (!target || !TableNode.is(target as TableNode)) return undefined;
  const { name } = (target as TableNode).table.identifier;
  return audited.includes(name) ? name : undefined;
}

/** Operators are told apart by their names on the machine where they give commands. */
function nameOf(by: Actor): string {
  if (by !== "operator") return by;
  try {
    return `operator ${process.env.SUDO_USER ?? userInfo().username}`;
  } catch {
    return by; // A container's user may have no name.
  }
}

/** What is only in one of two, or differs: JSON, none where there is nothing. */
function differing(before: unknown, after: unknown): { before: string | null; after: string | null } {
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

/**
 * Calls a person by another name in every entry, in the caller's transaction. Answers whether there was any. It alone
 * changes what was written.
 */
export async function renameInAudit(transaction: Kysely<Tables>, from: string, to: string): Promise<boolean> {
  const named = transaction.updateTable("audit_entries").set({ whom: to }).where("whom", "=", from);
  const renamed = await named.returning("id").execute();
  for (const column of ["before", "after"] as const) {
    const within = await transaction
      .updateTable("audit_entries")
      .set({ [column]: sql<string>`replace(${sql.ref(column)}, ${from}, ${to})` })
      .where(column, "like", `%"${from.replace(/[\\%_]/g, "_")}"%`)
      .returning("id")
      .execute();
    renamed.push(...within);
  }
  return renamed.length > 0;
}

export type AuditEntry = Tables["audit_entries"];

/** Which entries a list has: what is left out restricts nothing. */
export type AuditFilter = {
  /** Only of these: an email, its hash, an account's id. */
  whom?: string[] | undefined;
  who?: string | undefined;
  sinceMs?: number | undefined;
  most?: number | undefined;
};

/** The entries, the newest first, page by page. */
export function listAudit(db: Kysely<Tables>, { whom, who, sinceMs, most }: AuditFilter = {}) {
  return inPages<AuditEntry>((last, limit) => {
    let query = db.selectFrom("audit_entries").selectAll().orderBy("at_ms", "desc").orderBy("id", "desc");
    if (whom) query = query.where("whom", "in", whom);
    if (who !== undefined) query = query.where("who", "=", who);
    if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs);
    if (last) {
      const { at_ms, id } = last;
      query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("at_ms", "id"), "<", tuple(at_ms, id)));
    }
    return query.limit(limit).execute();
  }, most);
}
