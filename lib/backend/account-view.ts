import { type Account, parseAccount, trialEndOf } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { spendable, toCredits } from "@/lib/accounts/ledger";
import { Refusal } from "@/lib/backend/refusals";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { decideEntitlement } from "@/lib/plans/entitlement";

/** An account as a backend sees it: `status` is that of its entitlement, and `balance` what it can spend. */
export function describeForBackend(account: Account, nowMs: number) {
  return {
    id: account.id,
    email: account.email,
    reference: account.reference,
    status: decideEntitlement({ is: "account", account }, nowMs).status,
    plan: account.plan,
    trialEndsAt: asIso(trialEndOf(account)),
    assistantLimit: account.assistant_limit,
    balance: toCredits(spendable(account)),
    held: toCredits(account.held_thousandths),
    createdAt: asIso(account.created_at_ms),
  };
}

/** Reads an account by its id. Throws a {@link Refusal} if there is none. */
export async function readForBackend(db: Db, id: string, nowMs: number) {
  const row = await accountBy(db, "id", id).select(accountAt(nowMs)).executeTakeFirst();
  const account = parseAccount(row);
  if (!account) throw new Refusal("account_not_found");
  return describeForBackend(account, nowMs);
}

type Filter = {
  email?: string | undefined;
  reference?: string | undefined;
  after?: string | undefined;
  limit: number;
};

/** Lists accounts in the order of their ids: all, or the one with an email or a reference. */
export async function listForBackend(db: Db, { email, reference, after, limit }: Filter, nowMs: number) {
  let query = db.selectFrom("accounts").select(accountAt(nowMs)).orderBy("id").limit(limit);
  if (email !== undefined) query = query.where("email", "=", email.toLowerCase());
  if (reference !== undefined) query = query.where("reference", "=", reference);
  if (after !== undefined) query = query.where("id", ">", after);
  const rows = await query.execute();
  const accounts = rows.flatMap((row) => parseAccount(row) ?? []);
  return {
    accounts: accounts.map((account) => describeForBackend(account, nowMs)),
    next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
  };
}
