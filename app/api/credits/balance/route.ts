import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { readBalance } from "@/lib/accounts/credits/balance";
import { handleOperation } from "@/lib/http/handler";
import { toPlatform } from "@/lib/http/platform";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = toPlatform(
  handleOperation(
    operations.creditsBalance,
    async (_, caller: Caller) => ({ status: 200, body: await readBalance(caller) }),
    { identify: (call) => identifyCaller(call, "api") },
  ),
);
