import type { Answer } from "@/tests/support/service";

/** The elements that begin a line, and those of which a mark says so. */
const isBlock =
  /^(h\d|p|div|section|aside|nav|[uo]l|li|dl|dt|dd|table|tr|details|summary|form|fieldset|legend|label|option|noscript)$/;
const marks: Record<string, string> = { h1: "# ", h2: "## ", h3: "### ", summary: "> ", li: "- ", tr: "| " };
/** The elements in a line whose words a space divides from those beside them. */
const isBeside = /^(b|em|small|span|strong|t[dh]|time)$/;
const isEmpty = /^(input|br|img|hr|wbr)$/;
/** What is shown though it says nothing. */
const empties = /<(p|h\d|[uo]l|li|dl|dd|small)(?![^>]* role=)(?: [^>]*)?>\s*<\/\1>/g;
/** The attributes that say something to a reader. */
const told = ["aria-current", "aria-label", "data-colour", "role", "data-period"];

/** What is drawn at random, what counts up, and what belongs to one start: ids, ports, addresses, and when to check again. */
export const byChance =
  /(?<=\b(?:acc|in|cs|cus|sub|wh)_)[\w-]+|[\w-]{20,}|(?<=:)\d{4,5}\b|(?<=buyer)-\d+|127\.\d+\.\d+\.\d+|(?<=check by )\d\d:\d\d|(?<=recheckAfterSeconds(?:"|&quot;): ?)\d+/g;

/** What a page shows in its main part, as lines of text: each link with its address, each button with what it sends. */
export function linesOf(html: string): string[] {
  const [, title] = /<title>(.*?)<\/title>/.exec(html) ?? [];
  const [, main = ""] = /<main[^>]*>(.*)<\/main>/s.exec(html) ?? [];
  const shown = main.replace(/<(svg|script)\b.*?<\/\1>/gs, "").replace(empties, "<p>{an empty $1}</p>");
  const tokens = shown.matchAll(/<(\/?)(\w+)([^>]*)>|[^<]+/g);
  let text = `title: ${title}\n`;
  const ends: string[] = [];
  let form: string[] = [];
  for (const [words, isEnd, name, attributes = ""] of tokens) {
    const space = isBlock.test(name ?? "") ? "\n" : isBeside.test(name ?? "") ? "\0" : "";
    if (name === undefined) text += words;
    else if (isEnd) {
      text += `${ends.pop()}${space}`;
      if (name === "form") form = [];
    } else {
      const read = (attribute: string) => new RegExp(` ${attribute}="([^"]*)"`).exec(attributes)?.[1];
      const field = `${read("name")}=${read("value") ?? ""}${attributes.includes(" checked") ? " ✓" : ""}`;
      const isHidden = read("type") === "hidden";
      if (name === "form") form = [read("action") ?? ""];
      if (isHidden) form.push(field);
      text += `${space}${marks[name] ?? ""}`;
      const says = told.flatMap((attribute) => read(attribute) ?? []);
      if (says.length > 0) text += `{${says.join(", ")}} `;
      if (/^(input|select|textarea)$/.test(name) && !isHidden) text += `[${field}]`;
      if (name === "a" || name === "button") text += "[";
      const sent = [...form, ...(read("value") ? [field] : [])].join(" ");
      if (!isEmpty.test(name))
        ends.push(name === "a" ? `](${read("href")})` : name === "button" ? `](${sent})` : "");
    }
  }
  return text
    .replaceAll(/(?<=[\w.)])\0+(?=[\w€−{([])/g, " ")
    .replaceAll(/\0|(?<= ) +/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /\w|\]/.test(line));
}

type Opens = { open: (path: string) => Promise<Answer> };

/** What pages and the API answer a browser, one after the other, without what is due to chance. */
export async function readAll(browser: Opens, paths: string[]): Promise<string> {
  const said: string[] = [];
  for (const path of paths) {
    const { status, text } = await browser.open(path);
    said.push(`GET ${path}: ${status}`, ...(text.startsWith("{") ? [text] : linesOf(text)), "");
  }
  return said.join("\n").replaceAll(byChance, "…");
}
