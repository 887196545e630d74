import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { identifyCaller } from "@/lib/caller";
import { readEntitlement } from "@/lib/entitlement";

export const { GET, HEAD, OPTIONS } = endpoint(operations.entitlement, async ({ headers }, visit) =>
  readEntitlement(await identifyCaller(headers, visit), Date.now()),
);
