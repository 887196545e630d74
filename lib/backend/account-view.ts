import type * as z from "zod";
import { type Account, parseAccount, trialEndOf } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { isInState, isOnPlan } from "@/lib/accounts/accounts";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { writeReference } from "@/lib/accounts/reference";
import type { queries } from "@/lib/backend/inputs";
import { findAnswer, keepAnswers, type RequestIdentity } from "@/lib/backend/kept-answers";
import { Refusal } from "@/lib/backend/refusals";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction } from "@/lib/db/audit";
import { isSomeones } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import { decideEntitlement } from "@/lib/plans/entitlement";
import {
  contentsOf,
  describeContents,
  ownFeaturesOf,
  ownLimitsOf,
  type Plans,
  readPlans,
} from "@/lib/plans/plan";

/**
 * An account as a backend sees it: `status` is that of its entitlement, and `balance` what it can spend; `undefined` if its
 * plan cannot be read.
 */
function describeForBackend(account: Account, plans: Plans, nowMs: number) {
  const contents = contentsOf(account, plans);
  if (!contents) return undefined;
  return {
    id: account.id,
    email: account.email,
    reference: account.reference,
    status: decideEntitlement(account, nowMs).status,
    trialEndsAt: asIso(trialEndOf(account)),
    assistantLimit: null,
    ...describeContents(contents),
    ownFeatures: account.own_features === null ? null : ownFeaturesOf(account),
    ownLimits: account.own_limits === null ? null : ownLimitsOf(account),
    givenEndsAt: asIso(account.given_ends_at_ms),
    balance: toCredits(spendable(account)),
    held: toCredits(account.held_thousandths),
    createdAt: asIso(account.created_at_ms),
  };
}

/** Reads an account by its id. Throws a {@link Refusal} if there is none. */
export async function readForBackend(db: Db, id: string, nowMs: number) {
  const row = await accountBy(db, "id", id).select(accountAt(nowMs)).executeTakeFirst();
  const account = parseAccount(row, nowMs);
  const described = account && describeForBackend(account, await readPlans(db), nowMs);
  if (!described) throw new Refusal("account_not_found");
  return described;
}

/** Lists accounts in the order of their ids: all, those of a plan or in a state, or the one with an email or a reference. */
export async function listForBackend(
  db: Db,
  { email, reference, plan, state, after, limit }: z.infer<typeof queries.accounts>,
  nowMs: number,
) {
  let query = db.selectFrom("accounts").select(accountAt(nowMs)).where(isSomeones).orderBy("id").limit(limit);
  if (email !== undefined) query = query.where("email", "=", email);
  if (reference !== undefined) query = query.where("reference", "=", reference);
  if (plan !== undefined) query = query.where(isOnPlan(plan));
  if (state !== undefined) query = query.where(isInState(state, nowMs));
  if (after !== undefined) query = query.where("id", ">", after);
  const rows = await query.execute();
  const plans = await readPlans(db);
  return {
    accounts: rows.flatMap((row) => {
      const account = parseAccount(row, nowMs);
      return (account && describeForBackend(account, plans, nowMs)) ?? [];
    }),
    next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
  };
}

/**
 * Sets the operator's own name for an account, as a backend asks, and keeps the answer with the request's key. Throws a
 * {@link Refusal} if there is no such account or another one has the name.
 *
 * @returns the answer: the account
 */
export function setReference(
  db: Db,
  request: RequestIdentity,
  { id, reference }: { id: string; reference: string | null },
  nowMs: number,
): Promise<string> {
  const { backend, keyHash, digest } = request;
  // The audit outlives the account, so it has no words of it.
  const readState = async () => null;
  const about = { by: `backend ${backend}`, what: "account reference", whom: id, readState } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const known = await findAnswer(transaction, request);
    if (known) return known;
    await writeReference(transaction, id, reference, () => new Refusal("reference_taken"));
    const answer = JSON.stringify(await readForBackend(transaction, id, nowMs));
    const kept = { backend_id: backend, key_hash: keyHash, body_digest: digest, answer };
    await keepAnswers(transaction, [{ ...kept, account_id: id, written_at_ms: nowMs }]);
    return answer;
  });
}
