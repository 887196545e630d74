import { accountAt } from "@/lib/accounts/account-columns";
import { type AccountFilter, contains, selectAccounts } from "@/lib/accounts/accounts";
import { accountsWithStripeId } from "@/lib/accounts/list/customer-list";
import { parseTypedEmail } from "@/lib/config/email-address";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ownTurn } from "@/lib/runtime/own-turn";

export type AccountSearch = Pick<AccountFilter, "plan" | "state" | "isOwing" | "after"> & {
  /** Any part of an email or a reference, a whole email of before, or a whole id: ours, that of Clerk's user, or one of Stripe's. */
  text?: string | undefined;
};

type Row = Tables["accounts"];

/**
 * No index has the parts of a text on both engines: PostgreSQL's trigrams are an extension that not every operator may create.
 * So a search compares so many accounts in the order of their emails, in slices between which the process answers others.
 */
const searchBounds = { slice: 10_000, slices: 20 };

/** Reads up to `most` accounts that match. With `goesOnAfter`, those behind that email were not looked at. */
export async function searchAccounts(
  db: Db,
  { text, ...filter }: AccountSearch,
  most: number,
  { slice, slices } = searchBounds,
): Promise<{ rows: Row[]; goesOnAfter?: string }> {
  if (!text) return { rows: await selectAccounts(db, filter).limit(most).execute() };
  const named = filter.after ? [] : await findById(db, text);
  if (named.length > 0) return { rows: named };
  const rows: Row[] = [];
  let { after } = filter;
  for (let n = 0; n < slices; n++) {
    const until = await lastEmailOfSlice(db, after, slice);
    const matching = selectAccounts(db, { ...filter, after, until })
      .where(({ or }) => or([contains("email", text), contains("reference", text)]))
      .limit(most - rows.length);
    rows.push(...(await matching.execute()));
    if (rows.length === most) return { rows };
    if (until === undefined)
      return { rows: rows.length > 0 ? rows : await findByFormerEmail(db, text, filter) };
    after = until;
    await ownTurn();
  }
  return { rows, ...(after !== undefined && { goesOnAfter: after }) };
}

/** The account with this id, ours or that of a provider. */
function findById(db: Db, text: string): Promise<Row[]> {
  const bought = accountsWithStripeId(db, text);
  return db
    .selectFrom("accounts")
    .select(accountAt(Date.now()))
    .where(({ or, eb }) =>
      or([eb("id", "=", text), eb("subject", "=", text), ...(bought ? [eb("id", "in", bought)] : [])]),
    )
    .limit(1)
    .execute();
}

/** The account that had this email before its owner changed it, which people go on writing from. */
async function findByFormerEmail(db: Db, text: string, filter: AccountFilter): Promise<Row[]> {
  const email = parseTypedEmail(text);
  if (!email) return [];
  const changed = db
    .selectFrom("email_changes")
    .select("account_id")
    .where("from_email", "=", email)
    .where("changed_at_ms", "is not", null);
  return selectAccounts(db, filter).where("id", "in", changed).execute();
}

async function lastEmailOfSlice(db: Db, after: string | undefined, slice: number) {
  const emails = selectAccounts(db, { after }).clearSelect().select("email");
  const last = emails.offset(slice - 1).limit(1);
  return (await last.executeTakeFirst())?.email;
}
