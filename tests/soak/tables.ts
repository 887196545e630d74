import type { Calls } from "@/tests/support/calls";
import { listTables } from "@/tests/support/stores";
import { layOut } from "@/tests/support/table";
import type { World } from "./world";

type Count = { [table: string]: number };

/** How many rows may be left by each request, because they are data. A table that is not here keeps its size. */
const rowsLeft: { [table: string]: { [kind: string]: number } } = {
  accounts: { command: 1 },
  audit_entries: { command: 2, "sign-in": 1, unsubscribe: 1 },
  // Used refresh tokens, of which each app keeps the last thousand.
  connect_state: { refresh: 1 },
  email_suppressions: { unsubscribe: 1 },
  // It outlives its account.
  invitations: { command: 1 },
  local_sessions: { "sign-in": 1 },
  onboarding_emails: { command: 5 },
  sign_in_emails: { "sign-in": 1 },
  // One of a code, one of the new browser.
  sign_in_mail_attempts: { "sign-in": 2, join: 1 },
  waitlist: { join: 1 },
};
/** For what is still under way: codes that no one typed, outages that are over. */
const maxUnderWay = 100;

/** The number of rows of every table. */
export async function countRows({ store }: World): Promise<Count> {
  const counts: Count = {};
  for (const name of await listTables(store)) {
    const [row] = await store.query(`SELECT count(*) AS rows FROM "${name}"`);
    counts[name] = Number(row?.rows);
  }
  return counts;
}

/** The tables that grew by more than what was asked for explains, in words. */
export function findGrown(before: Count, after: Count, { done }: Calls): string[] {
  return Object.keys(after).flatMap((table) => {
    const grown = (after[table] ?? 0) - (before[table] ?? 0);
    const explained = Object.entries(rowsLeft[table] ?? {}).map(
      ([kind, each]) => each * (done.get(kind) ?? 0),
    );
    const most = maxUnderWay + explained.reduce((sum, rows) => sum + rows, 0);
    return grown > most ? [`${table} has ${grown} rows more, of which requests explain ${most}`] : [];
  });
}

/** Prints every table whose number of rows has changed. */
export function printRows(before: Count, after: Count): void {
  const changed = Object.keys(after).filter((table) => after[table] !== before[table]);
  const rows = changed.map((table) => [table, String(before[table] ?? 0), String(after[table])]);
  process.stdout.write(`\n${layOut([["rows of", "at first", "at the end"], ...rows])}\n`);
}
