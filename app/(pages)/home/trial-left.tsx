import { dayMs, hourMs } from "@/lib/config/durations";
import { Clock } from "../clock";

type TrialLeftProps = { startedAtMs: number; endsAtMs: number; nowMs: number };

const maxDrawn = 62; // days

/** The rest of a trial in words, on the last day in hours, and as a bar with a part for each day. */
export function TrialLeft({ startedAtMs, endsAtMs, nowMs }: TrialLeftProps) {
  const leftMs = endsAtMs - nowMs;
  const days = Math.max(Math.ceil(leftMs / dayMs), Math.round((endsAtMs - startedAtMs) / dayMs));
  return (
    <div className="trial">
      <p>
        <strong>{leftInWords(leftMs)}</strong>, until <Clock atMs={endsAtMs} shows="day and time" />
      </p>
      <Bar days={Math.min(days, maxDrawn)} left={(leftMs / dayMs) * Math.min(1, maxDrawn / days)} />
    </div>
  );
}

/** `2 days left`, on the last day in hours. */
export function leftInWords(leftMs: number): string {
  const isLastDay = leftMs <= dayMs;
  const left = Math.ceil(leftMs / (isLastDay ? hourMs : dayMs));
  const unit = isLastDay ? "hour" : "day";
  return `${left} ${left === 1 ? unit : `${unit}s`} left`;
}

/** What is left is filled, from the left; the day that runs is filled in part. */
function Bar({ days, left }: { days: number; left: number }) {
  return (
    <svg className="days" viewBox={`0 0 ${days} 1`} preserveAspectRatio="none" aria-hidden="true">
      {Array.from({ length: days }, (_, day) => (
        <g key={String(day)}>
          <rect x={day} width="1" height="1" />
          <rect x={day} width={Math.min(1, Math.max(0, left - day))} height="1" data-is-left="" />
        </g>
      ))}
    </svg>
  );
}
