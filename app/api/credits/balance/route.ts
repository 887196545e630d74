import { readBalance } from "@/lib/accounts/balance";
import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { createApiHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = createApiHandlers(
  operations.creditsBalance,
  async (_, caller: Caller) => ({ status: 200, body: await readBalance(caller) }),
  { identify: ({ headers, context }) => identifyCaller(headers, context, "api") },
);
