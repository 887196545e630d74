import { describe, expect, it } from "vitest";
import { anyRow, type Row } from "@/tests/support/any-row";
import { startStage } from "@/tests/support/block";
import { everyEngine, type Stage } from "@/tests/support/engines";

/* What there is once, besides each table's key: two at once could otherwise both make it. */

const nowhere = "a@example.com";

/** Two rows that may not be together, but for what else they need. */
const once: { [index: string]: Row } = {
  "accounts: email": { email: nowhere },
  "accounts: reference": { reference: "ours" },
  "accounts: subject": { subject: "user_1" },
  "billing_checkouts: account_id, kind": { kind: "licence", state: "open" },
  "billing_checkouts: session_id": { session_id: "cs_1", state: "expired" },
  "billing_customers: customer_id": { customer_id: "cus_1" },
  "events: id": { id: "evt_1" },
  "events: number": { number: 1 },
  "invitations: token_hash": { token_hash: "hash" },
  "local_sessions: client_hash": { client_hash: "hash" },
  "onboarding_emails: account_id, kind": { kind: "welcome" },
  "operators: link_hash": { link_hash: "hash" },
  "operators: name": { name: "ada" },
  "passkeys: credential_id": { credential_id: "credential" },
  "signing_keys: place": { place: 77 },
  "status_outages: part": { part: "mail" },
};

describe.each(everyEngine)("on $name", async (engine) => {
  const stage = await startStage(engine, { conflicts: false });

  it("each unique index is named here, and lets no second row in", async () => {
    expect(await listUnique(stage)).toEqual(Object.keys(once));
    for (const id of ["parent", "other"]) await anyRow(stage, "accounts", { id }, id);
    for (const [index, row] of Object.entries(once)) {
      const [table = ""] = index.split(":");
      await anyRow(stage, table, row, `one by ${index}`);
      // Of a table whose key is the account, the other is another one's.
      const second = table === "billing_customers" ? { ...row, account_id: "other" } : row;
      await expect(anyRow(stage, table, second, `two by ${index}`), index).rejects.toThrow(/unique/i);
    }
  });
});

/** The tables and columns of the unique indexes that are no keys. */
async function listUnique({ environment, query }: Stage): Promise<string[]> {
  const rows = await query(environment.DATABASE_URL ? ofPostgres : ofSqlite);
  return rows.map(({ line }) => String(line)).sort();
}

const ofPostgres = `SELECT concat(indrelid::regclass, ': ', (
    SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = indexrelid)) AS line
  FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
  WHERE indisunique AND NOT indisprimary AND relnamespace = 'public'::regnamespace`;
const ofSqlite = `SELECT tables.name || ': ' || (
    SELECT group_concat(name, ', ') FROM pragma_index_info(indexes.name)) AS line
  FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
  WHERE tables.type = 'table' AND indexes."unique" AND indexes.origin <> 'pk'`;
