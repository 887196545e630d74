import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { identifyCaller } from "@/lib/caller";
import { decideEntitlement, denial } from "@/lib/entitlement";

export const { GET, HEAD, OPTIONS } = endpoint(operations.entitlement, async ({ headers }, visit) => {
  const caller = await identifyCaller(headers, visit);
  switch (caller.is) {
    case "account":
      return decideEntitlement(caller.account, Date.now());
    case "unreadable":
      throw denial("invalid");
    case "signed-out":
      throw denial("signed-out", { "www-authenticate": caller.challenge });
    case "unconfigured":
      throw denial("unconfigured");
    case "unavailable":
      throw denial("unavailable", { "retry-after": String(caller.retryAfterSeconds) });
  }
});
