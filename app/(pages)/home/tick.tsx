/** Shows whether something is done by shape as well as by colour. */
export function Tick({ isDone }: { isDone: boolean }) {
  return (
    <svg className="tick" viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="8.5" />
      {isDone && <path d="m6 10.2 2.8 2.8L14.2 7" />}
    </svg>
  );
}
