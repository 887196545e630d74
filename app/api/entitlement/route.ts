import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { handleOperation } from "@/lib/http/handler";
import { toPlatform } from "@/lib/http/platform";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = toPlatform(
  handleOperation(
    operations.entitlement,
    async ({ nowMs }, caller: Caller) => ({ status: 200, body: await answerEntitlement(caller, nowMs) }),
    { identify: (call) => identifyCaller(call, "api") },
  ),
);
