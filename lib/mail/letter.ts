/** What a mail says, before it is set as text and as HTML. Plain words: whatever is in them is escaped. */
export type Letter = {
  subject: string;
  /** What a mailbox shows beside the subject. */
  preview: string;
  body: Block[];
  footer: Block[];
};

/** A paragraph, a list, a code to be typed, or a link that stands alone. */
export type Block = string | { steps: string[] } | { points: string[] } | { code: string } | Link;

type Link = { label: string; url: string };

/** A letter as plain text (RFC 3676 readers wrap it themselves). */
export function setAsText({ body, footer }: Letter): string {
  return `${body.map(textOf).join("\n\n")}\n\n-- \n${footer.map(textOf).join("\n\n")}\n`;
}

function textOf(block: Block): string {
  if (typeof block === "string") return block;
  if ("steps" in block) return block.steps.map((step, at) => `${at + 1}. ${step}`).join("\n");
  if ("points" in block) return block.points.map((point) => `* ${point}`).join("\n");
  if ("code" in block) return block.code;
  return `${block.label}:\n${block.url}`;
}

/**
 * A letter as HTML: one column, light and dark, no image, no script, nothing from elsewhere. What matters is in
 * `style` attributes too, because some mailboxes drop `<style>`.
 */
export function setAsHtml({ subject, preview, body, footer }: Letter): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .paper { background: #141613 !important; color: #ecebe5 !important; }
  .quiet { color: #a5aaa1 !important; border-color: #353a32 !important; }
  .link { color: #7ed3b0 !important; }
}
</style>
</head>
<body class="paper" style="margin: 0; background: #fbfaf6; color: #1b1e1a;">
<div style="display: none; max-height: 0; overflow: hidden;">${escapeHtml(preview)}</div>
<div class="paper" style="max-width: 36rem; margin: 0 auto; padding: 1.5rem 1.25rem; font: 16px/1.6 system-ui, sans-serif; background: #fbfaf6; color: #1b1e1a;">
<p style="margin: 0 0 1rem; font-weight: 650;">Corner Office</p>
<h1 style="margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.25;">${escapeHtml(subject)}</h1>
${body.map(htmlOf).join("\n")}
<div class="quiet" style="margin-top: 2rem; border-top: 1px solid #dedbd0; padding-top: 0.75rem; font-size: 14px; color: #5c625a;">
${footer.map(htmlOf).join("\n")}
</div>
</div>
</body>
</html>
`;
}

function htmlOf(block: Block): string {
  if (typeof block === "string") return `<p style="margin: 0 0 1rem;">${escapeHtml(block)}</p>`;
  if ("steps" in block)
    return `<ol style="margin: 0 0 1rem; padding-left: 1.5rem;">${itemsOf(block.steps)}</ol>`;
  if ("points" in block)
    return `<ul style="margin: 0 0 1rem; padding-left: 1.5rem;">${itemsOf(block.points)}</ul>`;
  if ("code" in block) return `<p style="${codeStyle}">${escapeHtml(block.code)}</p>`;
  const link = `<a class="link" href="${escapeHtml(block.url)}" style="color: #0e6147;">${escapeHtml(block.label)}</a>`;
  return `<p style="margin: 0 0 1rem;">${link}</p>`;
}

const codeStyle = "margin: 0 0 1rem; font: 600 28px/1.3 ui-monospace, monospace; letter-spacing: 0.2em;";

function itemsOf(items: string[]): string {
  return items.map((item) => `<li style="margin: 0 0 0.375rem;">${escapeHtml(item)}</li>`).join("");
}

/** Text as it stands in HTML, in an attribute as well. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
