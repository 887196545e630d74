import { Marked, type Token, type Tokens } from "marked";
import type { DocumentPage } from "@/lib/docs/document";
import { type CodeLanguage, highlight } from "@/lib/docs/highlight";
import { anchorOf } from "@/lib/docs/markdown";
import { escapeHtml } from "@/lib/http/escape-html";
import { hashContent } from "@/lib/http/etag";
import { files } from "@/lib/http/pages";

export type RenderedDocument = {
  /** Everything before the first section. */
  intro: string;
  html: string;
  /** The sections of the panel at the side. */
  panel: string;
  /** The sections for "On this page". */
  sections: { anchor: string; title: string }[];
};

/** Renders a document. Only code is escaped, because the Markdown is our own. */
export function renderDocument({ markdown, panelSections = [] }: DocumentPage): RenderedDocument {
  const rendered: RenderedDocument = { intro: "", html: "", panel: "", sections: [] };
  const marked = makeMarked(new Set());
  const tokens = marked.lexer(markdown()).filter(({ type }) => type !== "space");
  const starts = tokens.flatMap((token, at) => (isHeading(token, 2) ? [at] : []));
  rendered.intro = renderParts(marked, tokens.slice(0, starts[0]));
  for (const [n, start] of starts.entries()) {
    const [heading, ...body] = tokens.slice(start, starts[n + 1]);
    const { text } = heading as Tokens.Heading;
    const anchor = anchorOf(text);
    const title = marked.parseInline(text) as string;
    // The anchor is on the section, so that a link targets the heading with its content.
    const section = `<section id="${anchor}">\n<h2>${title} ${linkTo(anchor, text)}</h2>\n${renderParts(marked, body)}</section>\n`;
    if (panelSections.includes(text)) rendered.panel += section;
    else {
      rendered.html += section;
      rendered.sections.push({ anchor, title });
    }
  }
  return rendered;
}

/** The pictures that replace blocks of text on pages, by the block's label. Markdown keeps the text. */
const pictures: Record<string, string> = {
  "the-loop": `<picture class="loop"><source media="(max-width: 40rem)" srcset="${files.clientLoopOnPhones.path}" width="340" height="332"><img src="${files.clientLoop.path}" width="700" height="228" alt="The loop of a client, as the list below describes it."></picture>
`,
};

/** @param anchors - the field anchors so far, because two lists can contain the same name */
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
        const shownIn = namesOfLanguages[language] ?? "";
        return `<div class="sample" data-in="${shownIn}"><pre tabindex="0"><code>${highlight(text, language as CodeLanguage)}</code></pre></div>\n`;
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

function linkTo(anchor: string, name: string): string {
  return `<a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(name.replaceAll("`", ""))}"></a>`;
}

const isOfFields = ({ header }: Tokens.Table) => ["Field", "Header"].includes(header[0]?.text ?? "");

type RenderCell = (cell: Tokens.TableCell) => string;

/** Renders fields as a list, because a table would not fit on a phone. */
function fields({ header, rows }: Tokens.Table, cell: RenderCell, anchors: Set<string>): string {
  const items = rows.map(([name, ...cells]) => {
    if (!name) return "";
    const own = anchorOf(`${header[0]?.text} ${name.text}`);
    const anchor = anchors.has(own) ? `${own}-${anchors.size}` : own;
    anchors.add(anchor);
    const meaning = cells.at(-1);
    const facts = cells.slice(0, -1).flatMap((fact, at) => {
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

/** Renders the blocks of a section. Consecutive variants of a sample become tabs. */
function renderParts(marked: Marked, tokens: Token[]): string {
  let html = "";
  for (let at = 0; at < tokens.length; at++) {
    const variants = variantsFrom(tokens.slice(at));
    if (variants.length < 2) html += marked.parser(tokens.slice(at, at + 1));
    else {
      html += tabs(marked, variants);
      at += variants.length - 1;
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

/** The languages' names in the bar above a block of code. */
const namesOfLanguages: Record<string, string> = {
  ...languages,
  sh: "Shell",
  console: "Terminal",
  json: "JSON",
  http: "HTTP",
};

/** The label of a variant: the language, or the text after it (`json 401 signed_out`). */
function labelOf(token: Token): string | undefined {
  if (token.type !== "code") return undefined;
  const [language = "", label] = (token as Tokens.Code).lang?.split(/ (.*)/) ?? [];
  return label || languages[language];
}

function variantsFrom(tokens: Token[]): Tokens.Code[] {
  const labels = tokens.map(labelOf);
  const end = labels.findIndex((label, at) => !label || labels.indexOf(label) < at);
  return tokens.slice(0, end === -1 ? undefined : end) as Tokens.Code[];
}

/** Tabs without a script: radio buttons, and CSS that shows the block of the checked one. */
function tabs(marked: Marked, variants: Tokens.Code[]): string {
  const group = `ways-${hashContent(variants.map(({ raw }) => raw).join()).slice(0, 8)}`;
  const isOfLanguages = variants.every(({ lang = "" }) => lang in languages);
  const ways = variants.map((variant, at) => {
    const label = labelOf(variant) ?? "";
    const value = isOfLanguages ? variant.lang : label;
    return `<label><input type="radio" name="${group}" value="${value}"${at === 0 ? " checked" : ""}>${label.replace(/_/g, "_<wbr>")}</label><div class="way">${marked.parser([variant])}</div>`;
  });
  const kind = isOfLanguages ? "Language" : "Answer";
  return `<fieldset class="tabs" data-kind="${kind}"><legend class="unseen">${kind}</legend>${ways.join("")}</fieldset>\n`;
}
