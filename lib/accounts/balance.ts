import type { z } from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { toCredits } from "@/lib/accounts/ledger";
import { requireAccount } from "@/lib/accounts/require-account";
import type { creditsBalance } from "@/lib/http/schemas";

/** Returns the caller's balance. Throws an {@link ApiError} if it cannot be read. */
export function readBalance(caller: Caller): z.infer<typeof creditsBalance> {
  return { credits: toCredits(requireAccount(caller, "balance_unavailable").creditThousandths) };
}
