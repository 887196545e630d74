import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { createApiHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = createApiHandlers(
  operations.entitlement,
  async ({ nowMs }, caller: Caller) => ({ status: 200, body: await readEntitlement(caller, nowMs) }),
  { identify: ({ headers, context }) => identifyCaller(headers, context, "api") },
);
