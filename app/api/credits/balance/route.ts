import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { identifyCaller } from "@/lib/caller";
import { readBalance } from "@/lib/credits";

export const { GET, HEAD, OPTIONS } = endpoint(operations.creditsBalance, async ({ headers }, visit) =>
  readBalance(await identifyCaller(headers, visit)),
);
