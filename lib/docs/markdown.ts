/** The address that stands for this service in words which cannot know it; whoever serves them puts in `APP_URL`. */
export const placeholderAddress = "https://office.example.com";

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

type Language = "sh" | "ts" | "python" | "swift" | "kotlin" | "json" | "http" | "console" | "text";

/**
 * A block of code. `sh`, `ts` and `python` are samples: a test runs each as it stands.
 *
 * @param label - what it is one way of, where several stand together: a status, or the name of a picture
 */
export function code(language: Language, text: string, label = ""): string {
  return `\`\`\`${`${language} ${label}`.trim()}\n${text.trim()}\n\`\`\``;
}

/** The anchor of a heading: its words in lower case, joined by hyphens; an error code stays as it is. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
}
