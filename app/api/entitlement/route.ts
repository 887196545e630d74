import { identifyCaller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";

export const { GET, HEAD, OPTIONS } = endpoint(operations.entitlement, async ({ headers }, visit) =>
  readEntitlement(await identifyCaller(headers, visit, "api"), Date.now()),
);
