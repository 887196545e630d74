import { dayMs, hourMs } from "@/lib/config/durations";
import { Clock } from "../clock";

type TrialLeftProps = { startedAtMs: number; endsAtMs: number; nowMs: number };

/** The rest of a trial, in words and as a bar: in days, and on the last day in hours. */
export function TrialLeft({ startedAtMs, endsAtMs, nowMs }: TrialLeftProps) {
  const leftMs = endsAtMs - nowMs;
  const isLastDay = leftMs <= dayMs;
  const unitMs = isLastDay ? hourMs : dayMs;
  const left = Math.ceil(leftMs / unitMs);
  const whole = Math.max(left, Math.round((endsAtMs - startedAtMs) / unitMs));
  const all = isLastDay ? Math.min(24, whole) : whole;
  const words = `${left} ${isLastDay ? "hour" : "day"}${left === 1 ? "" : "s"} left`;
  return (
    <div className="trial">
      <p>
        <strong>{words}</strong> of {all}
      </p>
      <progress max={all} value={left} aria-label={`${words} of ${all}`} />
      <p className="quiet">
        It ends on <Clock atMs={endsAtMs} shows="day and time" />.
      </p>
    </div>
  );
}
