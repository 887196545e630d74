import type { Expression } from "kysely";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { asIso } from "@/lib/config/instants";
import { mapPages, paginate } from "@/lib/db/pagination";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

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
