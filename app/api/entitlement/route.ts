import { byToken } from "@/lib/accounts/require-account";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { handleOperation } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

export const { GET, HEAD, OPTIONS } = handleOperation(
  operations.entitlement,
  byToken,
  async ({ nowMs }, caller) => ({
    status: 200,
    body: await answerEntitlement(caller, nowMs),
  }),
);
