import { createHash } from "node:crypto";
import { Marked, type Token, type Tokens } from "marked";
import type { DocumentPage } from "@/lib/docs/document";
import { highlight, isCodeLanguage } from "@/lib/docs/highlight";
import { anchorOf } from "@/lib/docs/markdown";
import { escapeHtml } from "@/lib/http/escape-html";
import { files } from "@/lib/http/pages";

export type RenderedDocument = {
  html: string;
  /** What stands beside it: the sections that the document keeps there. */
  panel: string;
  /** Its sections, for "on this page". */
  sections: { anchor: string; title: string }[];
};

/** Renders a document. The Markdown is our own, so nothing in it is escaped but code. */
export function renderDocument({ markdown, beside = [] }: DocumentPage): RenderedDocument {
  const rendered: RenderedDocument = { html: "", panel: "", sections: [] };
  const marked = makeMarked(new Set());
  const tokens = marked.lexer(markdown()).filter(({ type }) => type !== "space");
  const starts = tokens.flatMap((token, at) => (isHeading(token, 2) ? [at] : []));
  rendered.html = renderParts(marked, tokens.slice(0, starts[0]));
  for (const [n, start] of starts.entries()) {
    const [heading, ...body] = tokens.slice(start, starts[n + 1]);
    const { text } = heading as Tokens.Heading;
    const anchor = anchorOf(text);
    const title = marked.parseInline(text) as string;
    // A section is what an address with this anchor points at: its heading and all that belongs to it.
    const section = `<section id="${anchor}">\n<h2>${title} ${linkTo(anchor, text)}</h2>\n${renderParts(marked, body)}</section>\n`;
    if (beside.includes(text)) rendered.panel += section;
    else {
      rendered.html += section;
      rendered.sections.push({ anchor, title });
    }
  }
  return rendered;
}

/** What a page shows in place of a block of text, by the label of the block. Markdown keeps the text. */
const pictures: Record<string, string> = {
  "the-loop": `<picture class="loop"><source media="(max-width: 40rem)" srcset="${files.clientLoopOnPhones.path}" width="340" height="332"><img src="${files.clientLoop.path}" width="700" height="228" alt="The loop of a client, as the list below describes it."></picture>
`,
};

/** @param anchors - those of fields that there are already, because one name may come in two lists */
function makeMarked(anchors: Set<string>) {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${html}</h1>\n`;
        const anchor = anchorOf(text);
        return `<h${depth} id="${anchor}">${html} ${linkTo(anchor, text)}</h${depth}>\n`;
      },
      code({ text, lang = "" }) {
        const [language = "", label = ""] = lang.split(/ (.*)/);
        const picture = pictures[label];
        if (picture) return picture;
        const html = isCodeLanguage(language) ? highlight(text, language) : escapeHtml(text);
        const shownIn = namesOfLanguages[language] ?? "";
        return `<div class="sample" data-in="${shownIn}"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
      },
      table(token) {
        const cell = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        return isOfFields(token) ? fields(token, cell, anchors) : tableOf(token, cell);
      },
    },
  });
}

const isHeading = (token: Token, depth: number): token is Tokens.Heading =>
  token.type === "heading" && token.depth === depth;

/** Every heading and field can be pointed at. */
function linkTo(anchor: string, what: string): string {
  return `<a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(what.replaceAll("`", ""))}"></a>`;
}

const isOfFields = ({ header }: Tokens.Table) => ["Field", "Header"].includes(header[0]?.text ?? "");

type RenderCell = (cell: Tokens.TableCell) => string;

/** Fields, one under the other: a table of them would be cut on a phone. */
function fields({ header, rows }: Tokens.Table, cell: RenderCell, anchors: Set<string>): string {
  const items = rows.map(([name, ...about]) => {
    if (!name) return "";
    const own = anchorOf(`${header[0]?.text} ${name.text}`);
    const anchor = anchors.has(own) ? `${own}-${anchors.size}` : own;
    anchors.add(anchor);
    const meaning = about.at(-1);
    const facts = about.slice(0, -1).flatMap((fact, at) => {
      const title = header[at + 1]?.text;
      if (title === "Required") return fact.text === "yes" ? [] : ["<i>optional</i>"];
      return [`<span>${title === "On" ? "on " : ""}${cell(fact)}</span>`];
    });
    return `<div id="${anchor}"><dt>${cell(name)} ${facts.join(" ")} ${linkTo(anchor, name.text)}</dt><dd>${meaning ? cell(meaning) : ""}</dd></div>`;
  });
  return `<dl class="fields">${items.join("\n")}</dl>\n`;
}

function tableOf({ header, rows }: Tokens.Table, cell: RenderCell): string {
  const head = header.map((one) => `<th scope="col">${cell(one)}</th>`).join("");
  const body = rows.map((row) => {
    const cells = row.map(
      (one, at) => `<td data-of="${escapeHtml(header[at]?.text ?? "")}">${cell(one)}</td>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  const caption = header.map(({ text }) => text).join(", ");
  return `<table><caption class="unseen">${escapeHtml(caption)}</caption><thead><tr>${head}</tr></thead>\n<tbody>${body.join("\n")}</tbody></table>\n`;
}

/** The blocks of a section. What is said in several ways, one after the other, becomes tabs. */
function renderParts(marked: Marked, tokens: Token[]): string {
  let html = "";
  for (let at = 0; at < tokens.length; at++) {
    const ways = waysFrom(tokens.slice(at));
    if (ways.length < 2) html += marked.parser(tokens.slice(at, at + 1));
    else {
      html += tabs(marked, ways);
      at += ways.length - 1;
    }
  }
  return html;
}

const languages: Record<string, string> = {
  sh: "curl",
  ts: "TypeScript",
  python: "Python",
  swift: "Swift",
  kotlin: "Kotlin",
};

/** What the bar over a block of code says. */
const namesOfLanguages: Record<string, string> = {
  ...languages,
  sh: "Shell",
  console: "Terminal",
  json: "JSON",
  http: "HTTP",
};

/** What a block of code is a way of: a language, or the status after it (`json 401 signed_out`). */
function labelOf(token: Token): string | undefined {
  if (token.type !== "code") return undefined;
  const [language = "", label] = (token as Tokens.Code).lang?.split(/ (.*)/) ?? [];
  return label || languages[language];
}

/** The blocks that tokens begin with, each another way. */
function waysFrom(tokens: Token[]): Tokens.Code[] {
  const labels = tokens.map(labelOf);
  const end = labels.findIndex((label, at) => !label || labels.indexOf(label) < at);
  return tokens.slice(0, end === -1 ? undefined : end) as Tokens.Code[];
}

/** Tabs that need no script: one button of a group is chosen, and what belongs to it is shown. */
function tabs(marked: Marked, ways: Tokens.Code[]): string {
  const group = `ways-${createHash("sha256")
    .update(ways.map(({ raw }) => raw).join())
    .digest("hex")
    .slice(0, 8)}`;
  const isOfLanguages = ways.every(({ lang = "" }) => lang in languages);
  const choices = ways.map((way, at) => {
    const label = labelOf(way) ?? "";
    const value = isOfLanguages ? way.lang : label;
    return `<label><input type="radio" name="${group}" value="${value}"${at === 0 ? " checked" : ""}>${label.replace(/_/g, "_<wbr>")}</label>`;
  });
  const bodies = ways.map((way) => `<div class="way">${marked.parser([way])}</div>`);
  const kind = isOfLanguages ? "Language" : "Answer";
  return `<div class="tabs" data-kind="${kind}"><fieldset><legend class="unseen">${kind}</legend>${choices.join("")}</fieldset>${bodies.join("")}</div>\n`;
}
