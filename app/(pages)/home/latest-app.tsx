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
  const { name, origin, begunAtMs, checkedAtMs, told } = app;
  const waits = checkedAtMs === null && nowMs - (begunAtMs ?? 0) < waitsMs;
  const distance = describeDistance(checkedAtMs ?? nowMs, nowMs);
  return (
    <div
      className="latest-app"
      data-is-done={isYes(told)}
      data-checks-after={waits ? checksAfterSeconds : undefined}
    >
      <Tick isDone={isYes(told)} />
      <div>
        <p role="status">
          “{name}”{origin && `, ${origin},`}{" "}
          {checkedAtMs !== null ? (
            `${distance === "now" ? "just asked" : `asked ${distance}`}: your company may ${isYes(told) ? "" : "not "}run.`
          ) : begunAtMs === null ? (
            "is connected."
          ) : (
            <>
              has been connected since <Clock atMs={begunAtMs} shows="day and time" />.
            </>
          )}{" "}
          Try in it:
        </p>
        <CopyLine text="May my company run, and how many credits are left?" label="a line to try in it" />
      </div>
    </div>
  );
}
