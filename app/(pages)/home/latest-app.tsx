import type { Session } from "@/lib/auth/sessions/session";
import { describeDistance } from "@/lib/config/instants";
import { agents } from "../front/apps";
import { drawingOf } from "../icons";
import { CopyLine } from "./access/copy-line";
import { isYes } from "./access/sessions";
import { Tick } from "./tick";

const checksAfterSeconds = 10;
const waitsMs = 10 * 60 * 1000; // 10 minutes

/** Whether an app was approved so lately that its owner may be waiting for its first check. */
export const isNew = ({ begun_at_ms }: Session, nowMs: number) => nowMs - (begun_at_ms ?? 0) < waitsMs;

/** The app that was approved last: what it was told when it asked, and a line to ask an agent. */
export function LatestApp({ app, nowMs }: { app: Session; nowMs: number }) {
  const { name, app_origin, checked_at_ms, told } = app;
  const waits = checked_at_ms === null && isNew(app, nowMs);
  const isAgent = agents.some((agent) => name.startsWith(agent));
  const distance = describeDistance(checked_at_ms ?? nowMs, nowMs);
  const checked = distance === "now" ? "has just checked your plan" : `checked your plan ${distance}`;
  return (
    <div
      className="latest-app"
      data-is-done={isYes(told)}
      data-checks-after={waits ? checksAfterSeconds : undefined}
    >
      <Tick isDone={isYes(told)} />
      <div>
        <p role="status">
          {drawingOf(name)
            ? name.replace(/^An? /, "Your ")
            : `“${name}”${app_origin ? `, ${app_origin},` : ""}`}{" "}
          {checked_at_ms === null
            ? "is connected. It hasn’t checked yet."
            : `${checked}: your assistants can${isYes(told) ? "" : "not"} work there.`}
          {isAgent && " Now ask it:"}
        </p>
        {isAgent && (
          <CopyLine text="Is my plan active, and how many credits are left?" label="a line to ask it" />
        )}
      </div>
    </div>
  );
}
