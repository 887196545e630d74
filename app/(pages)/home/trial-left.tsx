import { endsSoon } from "@/lib/accounts/standing";
import { dayMs, hourMs } from "@/lib/config/durations";
import { Clock } from "../clock";

const maxDrawn = 31;

type TrialLeftProps = { startedAtMs: number; endsAtMs: number; nowMs: number };

/** The rest of a trial, in words and as marks: one per day, and on the last day one per hour. */
export function TrialLeft({ startedAtMs, endsAtMs, nowMs }: TrialLeftProps) {
  const leftMs = endsAtMs - nowMs;
  const isLastDay = leftMs <= dayMs;
  const unitMs = isLastDay ? hourMs : dayMs;
  const left = Math.ceil(leftMs / unitMs);
  const whole = Math.max(left, Math.round((endsAtMs - startedAtMs) / unitMs));
  const all = isLastDay ? Math.min(24, whole) : whole;
  const unit = isLastDay ? "hour" : "day";
  const words = `${left} ${unit}${left === 1 ? "" : "s"} left`;
  return (
    <div className="trial" data-ends-soon={endsSoon(endsAtMs, nowMs)}>
      <p>
        <strong>{words}</strong> of {all}
      </p>
      <Marks left={left} all={all} label={`${words} of ${all}`} />
      <p className="quiet">
        It ends on <Clock atMs={endsAtMs} shows="day and time" />.
      </p>
    </div>
  );
}

/** One mark per unit, past ones first. When there are too many, each mark covers several days. */
function Marks({ left, all, label }: { left: number; all: number; label: string }) {
  const drawn = Math.min(all, maxDrawn);
  const over = drawn - Math.max(1, Math.round((left / all) * drawn));
  const marks = Array.from({ length: drawn }, (_, at) => ({ at, isOver: at < over }));
  return (
    <div className="marks" role="img" aria-label={label}>
      {marks.map(({ at, isOver }) => (
        <i key={at} data-is-over={isOver} />
      ))}
    </div>
  );
}
