import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { newEvent } from "@/lib/db/event-triggers";
import { hasRow } from "@/lib/db/has-row";
import { isSomeones } from "@/lib/db/pseudonym";
import { rowsOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";

const atOnce = 500; // what the embedded store writes in a few milliseconds, while others wait
const roundsAtMost = 200;
const pauseMs = 10;

/**
 * Tells the accounts of each plan that was changed, the oldest change first, and some accounts after the other in the order of
 * their ids: a transaction for all would exceed its deadline. Each account that has the plan then is told once, because the transaction
 * also notes how far this went.
 */
export async function tellChangedPlans(db: Db, signal?: AbortSignal): Promise<void> {
  const changes = db.selectFrom("changed_plans").select("seq").limit(1);
  for (let round = 0; round < roundsAtMost && !signal?.aborted; round++) {
    if (!(await hasRow(changes))) return;
    await transact(db, tellSome);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

async function tellSome(transaction: Db): Promise<void> {
  const oldest = transaction.selectFrom("changed_plans").selectAll().orderBy("seq").limit(1);
  const change = await oldest.forUpdate().executeTakeFirst();
  if (!change) return;
  const { seq, plan, data, last_account_id } = change;
  const following = transaction
    .selectFrom("accounts")
    .select("id")
    .where("id", ">", last_account_id ?? "")
    .orderBy("id");
  const last = await following
    .offset(atOnce - 1)
    .limit(1)
    .executeTakeFirst();
  const some = last ? following.where("id", "<=", last.id) : following;
  // Locked, so that no event of an account overtakes another one.
  const having = await some.where(hasPlan(plan)).forUpdate().execute();
  const { id, atMs } = newEvent(transaction);
  if (having.length > 0)
    await transaction
      .insertInto("events")
      .columns(["id", "account_id", "type", "data", "at_ms"])
      .expression((events) =>
        events
          .selectFrom(rowsOf(transaction, having, { id: "text" }))
          .select([
            sql.raw<string>(id).as("id"),
            "rows.id as account_id",
            sql.lit("entitlement.changed").as("type"),
            sql<string>`${data}`.as("data"),
            sql.raw<number>(atMs).as("at_ms"),
          ]),
      )
      .execute();
  if (last)
    await transaction
      .updateTable("changed_plans")
      .set({ last_account_id: last.id })
      .where("seq", "=", seq)
      .execute();
  else await transaction.deleteFrom("changed_plans").where("seq", "=", seq).execute();
}

/** Whether an account has a plan: of two licences it is told of both, and of a trial until the trial's end was told. */
const hasPlan = (plan: string) => sql<boolean>`${isSomeones} and case accounts.plan
  when 'licensed' then ${plan} in (coalesce(given_plan, paid_plan, 'licensed'), paid_plan)
  when 'trial' then ${plan} = 'trial' and trial_end_told_ms is distinct from trial_ends_at_ms
  else ${plan} = accounts.plan end`;
