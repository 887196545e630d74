import { endpoint } from "@/lib/api/endpoint";
import { ApiError } from "@/lib/api/errors";
import { operations } from "@/lib/api/operations";
import { identifyCaller } from "@/lib/caller";
import { toCredits } from "@/lib/credits";

export const { GET, HEAD, OPTIONS } = endpoint(operations.creditsBalance, async ({ headers }, visit) => {
  const caller = await identifyCaller(headers, visit);
  switch (caller.is) {
    case "account":
      return { credits: toCredits(caller.account.creditThousandths) };
    case "signed-out":
      throw new ApiError("signed_out", { headers: { "www-authenticate": caller.challenge } });
    case "unavailable":
      throw new ApiError("balance_unavailable", {
        headers: { "retry-after": String(caller.retryAfterSeconds) },
      });
    // A 401 would send the client into a sign-in that cannot mend either.
    case "unreadable":
    case "unconfigured":
      throw new ApiError("balance_unavailable");
  }
});
