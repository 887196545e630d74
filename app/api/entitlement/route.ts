import { identifyCaller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(
  operations.entitlement,
  async ({ headers, context, nowMs }) =>
    readEntitlement(await identifyCaller(headers, context, "api"), nowMs),
);
