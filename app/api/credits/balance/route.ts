import { readBalance } from "@/lib/accounts/balance";
import { identifyCaller } from "@/lib/accounts/caller";
import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";

export const { GET, HEAD, OPTIONS } = endpoint(operations.creditsBalance, async ({ headers }, visit) =>
  readBalance(await identifyCaller(headers, visit, "api")),
);
