import { readBalance } from "@/lib/accounts/credits/balance";
import { byToken } from "@/lib/accounts/require-account";
import { handleOperation } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = handleOperation(
  operations.creditsBalance,
  byToken,
  async (_, caller) => ({
    status: 200,
    body: await readBalance(caller),
  }),
);
