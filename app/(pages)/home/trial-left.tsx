const dayMs = 24 * 60 * 60 * 1000;

type TrialLeftProps = { startedAtMs: number; endsAtMs: number; nowMs: number };

/** The days that are left of a trial, in words and drawn. */
export function TrialLeft({ startedAtMs, endsAtMs, nowMs }: TrialLeftProps) {
  const daysLeft = Math.ceil((endsAtMs - nowMs) / dayMs);
  const days = Math.max(daysLeft, Math.round((endsAtMs - startedAtMs) / dayMs));
  const left = daysLeft === 1 ? "Less than a day left" : `${daysLeft} days left`;
  const endsOn = new Date(endsAtMs).toLocaleString("en-GB", {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return (
    <div className="trial">
      <label htmlFor="trial">
        <strong>{left}</strong> of {days}
      </label>
      <progress id="trial" value={daysLeft} max={days} />
      <p className="quiet">
        It ends on <time dateTime={new Date(endsAtMs).toISOString()}>{endsOn} UTC</time>.
      </p>
    </div>
  );
}
