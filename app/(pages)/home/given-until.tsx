import type { Account } from "@/lib/accounts/account";
import { Clock } from "../clock";

/** When what an operator gives ends, if it does. */
export function GivenUntil({ account: { given_ends_at_ms } }: { account: Account }) {
  if (given_ends_at_ms === null) return null;
  return (
    <p>
      What we gave you ends on <Clock atMs={given_ends_at_ms} shows="day and time" />.
    </p>
  );
}
