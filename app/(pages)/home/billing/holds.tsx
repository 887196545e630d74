import type { InferResult } from "kysely";
import type { openHolds } from "@/lib/accounts/credits/holds";
import { Clock } from "../../clock";
import { decimalsIn, formatCredits } from "./format-credits";

export const shownHolds = 10;

/** What is held of the credits, the hold that expires next first; `read` has one more than is shown, if there is one. */
export function Holds({ read }: { read: InferResult<ReturnType<typeof openHolds>> }) {
  if (read.length === 0) return null;
  const holds = read.slice(0, shownHolds);
  const decimals = decimalsIn(holds.map(({ thousandths }) => thousandths));
  return (
    <>
      <h3 id="held">Held for work that goes on</h3>
      <ol className="entries">
        {holds.map(({ id, thousandths, backend_id, reason, expires_at_ms }) => (
          <li key={id}>
            <span>{reason}</span>
            <b>{formatCredits(thousandths, decimals)}</b>
            <small className="quiet">
              {backend_id}, until <Clock atMs={expires_at_ms} shows="day and time" /> at the latest
            </small>
          </li>
        ))}
      </ol>
      {read.length > shownHolds && <p className="quiet">The first {shownHolds} to expire; there are more.</p>}
    </>
  );
}
