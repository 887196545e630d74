import { Clock } from "../clock";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const maxDrawn = 31;

type TrialLeftProps = { startedAtMs: number; endsAtMs: number; nowMs: number };

/** What is left of a trial, in words and drawn: a mark a day, and on the last day a mark an hour. */
export function TrialLeft({ startedAtMs, endsAtMs, nowMs }: TrialLeftProps) {
  const leftMs = endsAtMs - nowMs;
  const isLastDay = leftMs <= dayMs;
  const unitMs = isLastDay ? hourMs : dayMs;
  const left = Math.ceil(leftMs / unitMs);
  const all = isLastDay ? 24 : Math.max(left, Math.round((endsAtMs - startedAtMs) / dayMs));
  const unit = isLastDay ? "hour" : "day";
  const words = `${left} ${unit}${left === 1 ? "" : "s"} left`;
  return (
    <div className="trial" data-ends-soon={endsSoon(leftMs)}>
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

/** Under three days is soon. */
export function endsSoon(leftMs: number): boolean {
  return leftMs < 3 * dayMs;
}

/** Those that are over first. More than fit stand for several days each. */
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
