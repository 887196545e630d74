import { Marked, type Token, type Tokens } from "marked";
import type { DocumentPage } from "@/lib/docs/document";
import { type CodeLanguage, highlight } from "@/lib/docs/highlight";
import { anchorOf } from "@/lib/docs/markdown";
import { sectionsOf } from "@/lib/docs/sections";
import { escapeHtml } from "@/lib/http/escape-html";
import { hashContent } from "@/lib/http/etag";
import { files } from "@/lib/http/register/files";

export type RenderedDocument = {
  /** Everything before the first section. */
  intro: string;
  html: string;
  /** The request and the answers of an operation, for the panel at the side. */
  panel: string;
  /** The sections for "On this page". */
  sections: { anchor: string; title: string; depth: number }[];
};

/** Renders a document. Only code is escaped, because the Markdown is our own. */
export function renderDocument(document: DocumentPage): RenderedDocument {
  const rendered: RenderedDocument = { intro: "", html: "", panel: "", sections: [] };
  const marked = makeMarked();
  const [intro, ...sections] = sectionsOf(document);
  const render = document.showsSamplesBeside ? renderSteps : renderParts;
  rendered.intro = render(marked, intro?.tokens ?? []);
  for (const { heading, anchor = "", depth, tokens } of sections) {
    const title = marked.parseInline(heading) as string;
    // The anchor is on the section, so that a link targets the heading with its content.
    const section = `<section id="${anchor}">\n<h${depth}>${title} ${linkTo(anchor, heading)}</h${depth}>\n${render(marked, tokens.slice(1))}</section>\n`;
    const isInPanel = document.operation && (heading === "Request" || heading === "Answers");
    rendered[isInPanel ? "panel" : "html"] += section;
    if (!isInPanel) rendered.sections.push({ anchor, title, depth });
  }
  return rendered;
}

/** The picture that replaces the block `the-loop` of text on its page. Markdown keeps the text. */
const loop = `<picture class="loop"><source media="(max-width: 40rem)" srcset="${files.clientLoopOnPhones.path}" width="340" height="332"><img src="${files.clientLoop.path}" loading="lazy" width="700" height="228" alt="The loop of a client, as the list below describes it."></picture>\n`;

function makeMarked() {
  const anchors = new Set<string>();
  return new Marked({
    renderer: {
      code({ text, lang = "" }) {
        const [language = "", label = ""] = lang.split(/ (.*)/);
        if (label === "the-loop") return loop;
        const shownIn = namesOfLanguages[language] ?? "";
        return `<div class="sample" data-in="${shownIn}"><pre tabindex="0"><code>${highlight(text, language as CodeLanguage)}</code></pre></div>\n`;
      },
      /** Each field and each header has an anchor. */
      table({ header, rows }) {
        const cell = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        const titles = header.map(({ text }) => escapeHtml(text));
        const isOfFields = ["Field", "Header"].includes(titles[0] ?? "");
        const head = header.map((one) => `<th scope="col">${cell(one)}</th>`).join("");
        const body = rows.map((row) => {
          const name = row[0]?.text ?? "";
          const anchor = isOfFields ? addAnchor(anchors, anchorOf(`${titles[0]} ${name}`)) : "";
          const link = anchor && ` ${linkTo(anchor, name)}`;
          const cells = row.map(
            (one, at) => `<td data-column="${titles[at]}">${cell(one)}${at === 0 ? link : ""}</td>`,
          );
          return `<tr${anchor && ` id="${anchor}"`}>${cells.join("")}</tr>`;
        });
        return `<table><caption class="unseen">${titles.join(", ")}</caption><thead><tr>${head}</tr></thead>\n<tbody>${body.join("\n")}</tbody></table>\n`;
      },
    },
  });
}

function linkTo(anchor: string, name: string): string {
  return `<a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(name.replaceAll("`", ""))}"></a>`;
}

/** Two tables can contain the same name. */
function addAnchor(anchors: Set<string>, own: string): string {
  const anchor = anchors.has(own) ? `${own}-${anchors.size}` : own;
  anchors.add(anchor);
  return anchor;
}

function renderParts(marked: Marked, tokens: Token[]): string {
  return partsOf(marked, tokens)
    .map(({ html }) => html)
    .join("");
}

/** A longer sample needs the width of the page. */
const maxLinesBeside = 30;

/** Renders the blocks of a section, each group of short samples in a step with the text that leads to it. */
function renderSteps(marked: Marked, tokens: Token[]): string {
  const steps: Record<"text" | "samples" | "after", string>[] = [];
  const parts = partsOf(marked, tokens);
  const isBeside = ({ type, html }: Part) => type === "code" && html.split("\n").length <= maxLinesBeside;
  const last = parts.findLastIndex(isBeside);
  for (const [at, part] of parts.entries()) {
    const { type, html } = part;
    // A table has the width of the page, so it ends the step before and begins none.
    const step = [type, parts[at - 1]?.type].includes("table") ? undefined : steps.at(-1);
    if (isBeside(part) && step) step.samples += html;
    else if (isBeside(part)) steps.push({ text: "", samples: html, after: "" });
    else if (step && step.samples === "") step.text += html;
    else if (step && at > last && type !== "code") step.after += html;
    else steps.push({ text: html, samples: "", after: "" });
  }
  return steps
    .map(({ text, samples, after }) =>
      samples === ""
        ? text
        : `<div class="step"><div>${text}</div><div class="samples">${samples}</div><div>${after}</div></div>`,
    )
    .join("\n");
}

type Part = { type: string; html: string };

/** The blocks of a section. Consecutive variants of a sample become tabs. */
function partsOf(marked: Marked, all: Token[]): Part[] {
  const tokens = all.filter(({ type }) => type !== "space");
  const parts: Part[] = [];
  while (tokens.length > 0) {
    const { type } = tokens[0] as Token;
    const variants = variantsFrom(tokens);
    const rendered = tokens.splice(0, Math.max(1, variants.length));
    parts.push({ type, html: variants.length > 1 ? tabs(marked, variants) : marked.parser(rendered) });
  }
  return parts;
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
  return `<div class="tabs" role="radiogroup" aria-label="${kind}">${ways.join("")}</div>\n`;
}
