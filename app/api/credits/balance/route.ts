import { readBalance } from "@/lib/accounts/balance";
import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(
  operations.creditsBalance,
  (_, caller: Caller) => readBalance(caller),
  ({ headers, context }) => identifyCaller(headers, context, "api"),
);
