import type { z } from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { requireAccount } from "@/lib/accounts/require-account";
import type { creditsBalance } from "@/lib/http/schemas";

/** Returns the caller's balance, or throws as {@link requireAccount} does. */
export function readBalance(caller: Caller): z.infer<typeof creditsBalance> {
  return { credits: toCredits(spendable(requireAccount(caller, "balance_unavailable"))) };
}
