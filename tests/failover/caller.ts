import type { Service } from "@/tests/support/service";
import type { startSmtpInbox } from "@/tests/support/smtp-inbox";
import type { CallRecord } from "./call-record";

/** The shared state of the callers of one run. */
export type World = {
  /** The number of the run: its callers are others than those of earlier runs. */
  run: number;
  /** The service as callers reach it: through the balancer. */
  front: Service;
  inbox: Awaited<ReturnType<typeof startSmtpInbox>>;
  /** Runs a statement at the server that accepts writes now. */
  query: (sql: string, values?: unknown[]) => Promise<{ [column: string]: unknown }[]>;
  record: CallRecord;
};

/** Callers of one kind, who call from now on until the record is stopped. */
export type Caller = {
  /** Resolves when they have stopped. */
  stopped: Promise<unknown>;
  /** Acknowledged writes that are not there any more, in words. */
  findLost: () => Promise<string[]>;
};

/** Which of these values a column of a table does not hold. */
export async function findMissing(
  { query }: World,
  values: readonly string[],
  [table, column]: [table: string, column: string],
): Promise<string[]> {
  const rows = await query(`SELECT ${column} AS value FROM ${table} WHERE ${column} = ANY($1)`, [values]);
  const there = new Set(rows.map(({ value }) => value));
  return values.filter((value) => !there.has(value));
}
