const maxDrawn = 12;

/** Draws one desk for each assistant that the plan allows. */
export function Assistants({ limit }: { limit: number }) {
  const drawn = Array.from({ length: Math.min(limit, maxDrawn) }, (_, at) => at);
  return (
    <section className="card" aria-labelledby="assistants">
      <dl className="total">
        <dt id="assistants">Assistants you may hire</dt>
        <dd>{limit}</dd>
      </dl>
      <p className="desks" aria-hidden="true">
        {drawn.map((at) => (
          <svg key={at} viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="6" r="3.2" />
            <path d="M7 17v-3a5 5 0 0 1 10 0v3M3 17.5h18M5.5 17.5V22M18.5 17.5V22" />
          </svg>
        ))}
        {limit > maxDrawn && <span>+{limit - maxDrawn}</span>}
      </p>
    </section>
  );
}
