import { strokes } from "@/lib/config/logo";

/** The mark beside the name, in the colours of the text around it. */
export function Mark() {
  return (
    <svg className="mark" viewBox="4 4 24 24" aria-hidden="true">
      <path d={strokes.wall} />
      <path className="window" d={strokes.window} />
    </svg>
  );
}
