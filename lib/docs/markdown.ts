/** The address that stands for this service in words which cannot know it; whoever serves them puts in `APP_URL`. */
export const placeholderAddress = "https://office.example.com";

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A block of code. `sh`, `ts` and `python` are samples: a test runs each as it stands. */
export function code(language: "sh" | "ts" | "python" | "json" | "http" | "console", text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``;
}

/** The anchor of a heading: its words in lower case, joined by hyphens; an error code stays as it is. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
}
