import { settings } from "@/lib/config/settings";
import type { CodeLanguage } from "@/lib/docs/highlight";
import type { ErrorCode } from "@/lib/http/errors";
import { documentPages, pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";

const targets = { ...documentPages, ...publications, changes: pages.changes };

/** The link targets of the documents, by their names in the registers. */
export const to = Object.fromEntries(Object.entries(targets).map(([name, { path }]) => [name, path])) as {
  [Name in keyof typeof targets]: (typeof targets)[Name]["path"];
};

/** A link to the section about an error code. */
export function toCode(code: ErrorCode): string {
  return `[\`${code}\`](${to.errors}#${code})`;
}

/** A link to a page that needs sign-in; only its path if this deployment has no sign-in. */
export function linkToPage({ path }: Pick<Route, "path">): string {
  return settings().signIn.kind === "none" ? `\`${path}\`` : `[${path}](${path})`;
}

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
