import type { CodeLanguage } from "@/lib/docs/highlight";

/** The placeholder for this service's URL in documents; it is replaced with `APP_URL` when they are served. */
export const placeholderAddress = "https://office.example.com";

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A block of code, which a test runs if it can. The label is its tab's, or that of the picture that replaces it. */
export function code(language: CodeLanguage, text: string, label = ""): string {
  return `\`\`\`${`${language} ${label}`.trim()}\n${text.trim()}\n\`\`\``;
}

/** A block of JSON. */
export function json(value: object, label = ""): string {
  return code("json", JSON.stringify(value, null, 2), label);
}

/** The anchor of a heading: its words in lower case, joined with hyphens. Error codes stay unchanged. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** Markdown as plain text. */
export function plain(markdown: string): string {
  return markdown
    .replace(/^```.*$/gm, " ")
    .replace(/^[| :-]+$/gm, " ")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\\([|<])/g, "$1")
    .replace(/[`*]/g, "")
    .replaceAll("|", " ")
    .replace(/^ *(?:-|\d+\.) /gm, "")
    .replace(/\s+/g, " ")
    .trim();
}
