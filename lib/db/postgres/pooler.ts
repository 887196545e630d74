import type { QueryResult } from "kysely";
import type { PoolClient } from "pg";

/** The server's timeouts by the names of its settings, in milliseconds. */
export type Limits = Readonly<Record<string, number>>;

/** Runs a statement behind a pooler. We own a connection only for a transaction, so the timeouts are set in each of them. */
export function queryPooled(
  client: PoolClient,
  limits: Limits,
  { sql, parameters, isInTransaction }: { sql: string; parameters: unknown[]; isInTransaction: boolean },
): Promise<QueryResult<unknown>> {
  if (sql === "begin") return client.query(limitedBegin(limits)) as never;
  return isInTransaction
    ? (client.query(sql, parameters) as never)
    : queryAlone(client, limits, sql, parameters);
}

function limitedBegin(limits: Limits): string {
  return `begin${Object.entries(limits)
    .map(([name, ms]) => `; set local ${name} = ${ms}`)
    .join("")}`;
}

/** Runs a statement in its own transaction. Its three commands are pipelined, so they take no longer than one. */
async function queryAlone(client: PoolClient, limits: Limits, sql: string, parameters: unknown[]) {
  const [begun, result, ended] = await Promise.allSettled([
    client.query(limitedBegin(limits)),
    client.query(sql, parameters),
    client.query("commit"),
  ]);
  for (const outcome of [begun, result, ended]) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
  return (result as PromiseFulfilledResult<QueryResult<unknown>>).value;
}
