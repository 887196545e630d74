import { mailKinds } from "@/lib/mail/kinds";
import type { RenderedMail } from "@/lib/mail/mail";
import { renderMail } from "@/lib/mail/mail-content";

/** An example of every mail, by the name used in the preview's address. */
export function renderPreviews(): Map<string, RenderedMail> {
  const atMs = Date.now();
  const examples = [...mailKinds.values()].flatMap((kind) => Object.entries(kind.examples(atMs)));
  return new Map(examples.map(([name, content]) => [name, renderMail(content)]));
}
