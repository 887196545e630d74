import { Clock, Zone } from "../clock";
import type { HomeState } from "./state";

/** How old what one reads is, and in whose time it is told. */
export function Checked({ state, nowMs }: { state: HomeState; nowMs: number }) {
  return (
    <p className="quiet">
      Checked at <Clock atMs={nowMs} shows="time" /> (<Zone />
      ).{" "}
      <span className="with-script">
        Checked next at <Clock atMs={nowMs + state.checkAgainAfterSeconds * 1000} shows="time" />, by itself,
        while this page is open.
      </span>
      <noscript>Reload this page to check again.</noscript>
    </p>
  );
}
