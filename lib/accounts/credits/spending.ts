import { type Expression, sql } from "kysely";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { asIso } from "@/lib/config/instants";
import { mapPages, paginate } from "@/lib/db/pagination";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** How many of the latest spends are grouped, and how many groups and holds are shown. */
export const spendingBounds = { spends: 2000, groups: 20, holds: 10 };

export type Spending = Awaited<ReturnType<typeof readSpending>>;

/**
 * What backends have spent of an account's credits, by day (UTC, in days since 1970), backend and reason, the latest day and
 * there the most first; and the open holds, of which the one that expires next is first. What was given back is taken off.
 */
export async function readSpending(db: Db, accountId: string, nowMs: number) {
  const spends = db
    .selectFrom("credit_entries")
    .where("account_id", "=", accountId)
    .where("backend_id", "is not", null)
    .where("thousandths", "<", 0);
  const latest = spends
    .select(["backend_id", "reason"])
    .select([
      sql<number>`created_at_ms / 86400000`.as("day"),
      sql<number>`-thousandths - reversed_thousandths`.as("spent"),
    ])
    .orderBy("created_at_ms", "desc")
    .orderBy("place", "desc")
    .orderBy("id", "desc")
    .limit(spendingBounds.spends);
  const { groups, older, holds } = await readInOneQuery(db, {
    groups: db
      .selectFrom(latest.as("spends"))
      .select(["day", "backend_id", "reason"])
      .select(({ fn }) => [fn.countAll<number>().as("count"), fn.sum<number>("spent").as("spent")])
      .groupBy(["day", "backend_id", "reason"])
      .orderBy("day", "desc")
      .orderBy("spent", "desc")
      .orderBy("reason")
      .limit(spendingBounds.groups + 1),
    older: spends.select("id").orderBy("created_at_ms", "desc").offset(spendingBounds.spends).limit(1),
    holds: openHolds(db, accountId, nowMs).limit(spendingBounds.holds + 1),
  });
  return {
    groups: groups.slice(0, spendingBounds.groups),
    hasMoreGroups: groups.length > spendingBounds.groups,
    hasOlder: older.length > 0,
    holds: holds.slice(0, spendingBounds.holds),
    hasMoreHolds: holds.length > spendingBounds.holds,
  };
}

/** The query of what is held of an account's credits at `nowMs`. */
export function openHolds(db: Db, accountId: string | Expression<string | null>, nowMs: number) {
  return db
    .selectFrom("holds")
    .select(["id", "thousandths", "backend_id", "reason", "reference", "expires_at_ms"])
    .where("account_id", "=", accountId)
    .where("closed_as", "is", null)
    .where("expires_at_ms", ">", nowMs)
    .orderBy("expires_at_ms")
    .orderBy("id");
}

/** Everything that was ever held of an account's credits, for an export: page by page, oldest first. */
export function exportHolds(db: Db, accountId: string) {
  const holds = db.selectFrom("holds").selectAll().where("account_id", "=", accountId);
  const ordered = holds.orderBy("created_at_ms").orderBy("id");
  const after = ({ created_at_ms, id }: Tables["holds"]) =>
    ordered.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("created_at_ms", "id"), ">", tuple(created_at_ms, id)),
    );
  const pages = paginate<Tables["holds"]>((last, limit) =>
    (last ? after(last) : ordered).limit(limit).execute(),
  );
  return mapPages(pages, ({ reason, reference, closed_as, ...hold }) => ({
    credits: toCredits(hold.thousandths),
    backend: hold.backend_id,
    reason,
    reference,
    createdAt: asIso(hold.created_at_ms),
    expiresAt: asIso(hold.expires_at_ms),
    closedAs: closed_as,
    closedAt: asIso(hold.closed_at_ms),
  }));
}
