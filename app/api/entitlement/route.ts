import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(
  operations.entitlement,
  ({ nowMs }, caller: Caller) => readEntitlement(caller, nowMs),
  ({ headers, context }) => identifyCaller(headers, context, "api"),
);
