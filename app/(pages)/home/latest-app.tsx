import type { Session } from "@/lib/auth/sessions/session";
import { describeDistance } from "@/lib/config/instants";
import { Clock } from "../clock";
import { CopyLine } from "./access/copy-line";
import { isYes } from "./access/sessions";
import { Tick } from "./tick";

const checksAfterSeconds = 10;
const waitsMs = 10 * 60 * 1000; // 10 minutes

/** The app that was approved last: what it was told when it asked, and a line to try in it. */
export function LatestApp({ app, nowMs }: { app: Session; nowMs: number }) {
  const { name, app_origin, begun_at_ms, checked_at_ms, told } = app;
  const waits = checked_at_ms === null && nowMs - (begun_at_ms ?? 0) < waitsMs;
  const distance = describeDistance(checked_at_ms ?? nowMs, nowMs);
  return (
    <div
      className="latest-app"
      data-is-done={isYes(told)}
      data-checks-after={waits ? checksAfterSeconds : undefined}
    >
      <Tick isDone={isYes(told)} />
      <div>
        <p role="status">
          “{name}”{app_origin && `, ${app_origin},`}{" "}
          {checked_at_ms !== null ? (
            `${distance === "now" ? "just asked" : `asked ${distance}`}: your company may ${isYes(told) ? "" : "not "}run.`
          ) : begun_at_ms === null ? (
            "is connected."
          ) : (
            <>
              has been connected since <Clock atMs={begun_at_ms} shows="day and time" />.
            </>
          )}{" "}
          Try in it:
        </p>
        <CopyLine text="May my company run, and how many credits are left?" label="a line to try in it" />
      </div>
    </div>
  );
}
