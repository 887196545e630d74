import type { CompiledQuery, KyselyPlugin, QueryResult, UnknownRow } from "kysely";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Db } from "@/lib/db/store";

/** An instance of the store that keeps what it was asked and what came of it, and tells the plan of a query. */
export function watchQueries(db: Db) {
  const queries: CompiledQuery[] = [];
  const results: QueryResult<UnknownRow>[] = [];
  const keep: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    async transformResult({ result }) {
      results.push(result);
      return result;
    },
  };
  const explain = isPostgres(db) ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
  const planOf = async (query: CompiledQuery | undefined) => {
    if (!query) throw new Error("no query");
    return JSON.stringify((await db.executeQuery({ ...query, sql: `${explain} ${query.sql}` })).rows);
  };
  return { watched: db.withPlugin(keep), queries, results, planOf };
}

/** The numbers from 1 on, one a row, as a part of a statement for either engine. */
export const numbersTo = (most: number) =>
  `(WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${most}) SELECT n FROM r) AS numbers`;
