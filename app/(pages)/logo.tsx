import { strokes } from "@/lib/config/logo";

/** The logo next to the name, in the colour of the surrounding text. */
export function Mark() {
  return (
    <svg className="mark" viewBox="4 4 24 24" aria-hidden="true">
      <path d={strokes.wall} />
      <path stroke="var(--accent)" d={strokes.window} />
    </svg>
  );
}
