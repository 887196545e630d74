import { readBalance } from "@/lib/accounts/balance";
import { identifyCaller } from "@/lib/accounts/caller";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(
  operations.creditsBalance,
  async ({ headers, context }) => readBalance(await identifyCaller(headers, context, "api")),
);
