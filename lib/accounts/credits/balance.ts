import type { z } from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { requireAccount } from "@/lib/accounts/require-account";
import type { operations } from "@/lib/http/register/operations";

/** Returns the caller's balance, or throws as {@link requireAccount} does. */
export function readBalance(caller: Caller): z.infer<typeof operations.creditsBalance.answer> {
  return { credits: toCredits(spendable(requireAccount(caller, "balance_unavailable"))) };
}
