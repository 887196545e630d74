import type { Standing } from "@/lib/accounts/standing";
import { Clock } from "../clock";

/** The time of the last check, and its time zone. */
export function Checked({ state, nowMs }: { state: Standing; nowMs: number }) {
  return (
    <p className="quiet">
      Checked at <Clock atMs={nowMs} shows="time" />
      <span data-time-zone="" />.{" "}
      <span className="with-script">
        Next automatic check{" "}
        {state.checkAgainAfterSeconds < 60 ? (
          "within a minute."
        ) : (
          <>
            by <Clock atMs={nowMs + state.checkAgainAfterSeconds * 1000} shows="time" />.
          </>
        )}
      </span>
      <noscript>Reload this page to check again.</noscript>
    </p>
  );
}
