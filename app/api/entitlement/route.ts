import { byToken } from "@/lib/accounts/require-account";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { handleOperation } from "@/lib/http/handler";
import { toPlatform } from "@/lib/http/platform";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = toPlatform(
  handleOperation(operations.entitlement, byToken, async ({ nowMs }, caller) => ({
    status: 200,
    body: await answerEntitlement(caller, nowMs),
  })),
);
