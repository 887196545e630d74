import { Marked, type Tokens } from "marked";
import type { DocumentPage } from "@/lib/docs/document";
import { anchorOf } from "@/lib/docs/markdown";

export type RenderedDocument = {
  html: string;
  /** Its sections, for "on this page". */
  sections: { anchor: string; title: string }[];
};

/** Renders a document. The Markdown is our own, so nothing in it is escaped but code. */
export function renderDocument({ markdown }: DocumentPage): RenderedDocument {
  const sections: RenderedDocument["sections"] = [];
  let groups = 0;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const anchor = anchorOf(text);
        if (depth === 1) return `<h1>${html}</h1>\n`;
        if (depth > 2) return `<h${depth} id="${anchor}">${html}</h${depth}>\n`;
        // A section is what an address with this anchor points at: its heading and all that belongs to it.
        const before = sections.length > 0 ? "</section>\n" : "";
        sections.push({ anchor, title: html });
        return `${before}<section id="${anchor}">\n<h2>${html}</h2>\n`;
      },
      code({ text, lang }) {
        const block = `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
        return isSample(lang) ? `<div class="sample">${block}</div>\n` : `${block}\n`;
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], open: string, close: string) =>
          row.map(({ tokens }) => `<${open}>${this.parser.parseInline(tokens)}</${close}>`).join("");
        const head = cells(header, `th scope="col"`, "th");
        const body = rows.map((row) => `<tr>${cells(row, "td", "td")}</tr>`).join("\n");
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown()).filter(({ type }) => type !== "space");
  let html = "";
  for (let at = 0; at < tokens.length; at++) {
    const samples = samplesFrom(tokens.slice(at));
    if (samples.length < 2) {
      html += marked.parser(tokens.slice(at, at + 1));
      continue;
    }
    // The same thing said in several languages: one is open at a time.
    const name = `samples-${++groups}`;
    html += `<div class="samples">${samples.map((sample, n) => `<details name="${name}"${n === 0 ? " open" : ""}><summary>${languages[sample.lang ?? ""]}</summary>\n${marked.parser([sample])}</details>`).join("")}</div>\n`;
    at += samples.length - 1;
  }
  return { html: sections.length > 0 ? `${html}</section>` : html, sections };
}

const languages: Record<string, string> = { sh: "curl", ts: "TypeScript", python: "Python" };

const isSample = (language: string | undefined) => language !== undefined && language in languages;

/** The samples that tokens begin with, each in another language. */
function samplesFrom(tokens: { type: string }[]): Tokens.Code[] {
  const samples: Tokens.Code[] = [];
  for (const token of tokens) {
    const { type, lang } = token as Tokens.Code;
    if (type !== "code" || !isSample(lang) || samples.some((sample) => sample.lang === lang)) break;
    samples.push(token as Tokens.Code);
  }
  return samples;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
