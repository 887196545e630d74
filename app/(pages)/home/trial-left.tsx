import type { Account } from "@/lib/accounts/account";
import { dayMs, hourMs } from "@/lib/config/durations";
import { Clock } from "../clock";

type TrialLeftProps = { account: Extract<Account, { plan: "trial" }>; nowMs: number };

const maxDrawn = 62; // days

/** The rest of a trial in words, on the last day in hours, and as a bar with a part for each day; and what follows it. */
export function TrialLeft({ account, nowMs }: TrialLeftProps) {
  const { created_at_ms, trial_ends_at_ms: endsAtMs, deletes_at_ms } = account;
  const leftMs = endsAtMs - nowMs;
  const days = Math.max(Math.ceil(leftMs / dayMs), Math.round((endsAtMs - created_at_ms) / dayMs));
  return (
    <div className="trial">
      <p>
        <strong>{leftInWords(leftMs)}</strong>, until <Clock atMs={endsAtMs} shows="day and time" />
        {deletes_at_ms === null && ". Then your assistants pause, and nothing is lost."}
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
