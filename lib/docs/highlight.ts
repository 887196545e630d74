import { escapeHtml } from "@/lib/http/escape-html";

/* Syntax colours without a script: for short samples, regular expressions are enough. */

const words = {
  sh: "export read if then else fi while do done curl printf",
  ts: "async await break case catch class const continue default else export extends finally for from function if import in let new of return static switch this throw try type typeof while true false null undefined",
  python:
    "and as async await break class continue def elif else except finally for from global if import in is lambda not or pass raise return try while with yield True False None self",
  swift:
    "actor async await break case catch class continue default do else enum false for func guard if import in init let nil private return self static struct switch throw throws true try typealias var while",
  kotlin:
    "break catch class companion continue data else false finally for fun if import in interface is null object override package private return suspend throw true try val var when while",
  json: "true false null",
  http: "",
  console: "npx claude codex",
  text: "",
} as const;

export type CodeLanguage = keyof typeof words;

/** Renders code as escaped HTML with syntax colours. */
export function highlight(code: string, language: CodeLanguage): string {
  if (language === "text") return escapeHtml(code);
  const known = new Set<string>(words[language].split(" "));
  let html = "";
  for (const { groups = {} } of code.matchAll(patterns[language] ?? programs)) {
    const [kind, text = ""] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    const isPlain = kind === "rest" || (kind === "word" && !known.has(text));
    const [tag = "", attribute = ""] = tags[kind ?? ""] ?? [];
    html += isPlain ? escapeHtml(text) : `<${tag}${attribute}>${escapeHtml(text)}</${tag}>`;
  }
  return html;
}

/** The elements of the colours. They are short, because a long sample has hundreds, which are half of its page. */
const tags: Record<string, [tag: string, attribute?: string]> = {
  word: ["i"],
  name: ["b"],
  text: ["i", " class=t"],
  number: ["i", " class=n"],
  note: ["i", " class=c"],
};

/** The groups of the patterns are the names of the colours. */
const string = `(?<text>"""[\\s\\S]*?"""|"(?:\\\\.|[^"\\\\])*"|'(?:\\\\.|[^'\\\\\\n])*'|\`[^\`]*\`)`;
const number = "(?<number>\\b\\d[\\d_.]*\\b)";
const others = "(?<word>[A-Za-z_$][\\w$]*)|(?<rest>[\\s\\S])";

const programs = new RegExp(
  `(?<note>/\\*[\\s\\S]*?\\*/|//[^\\n]*)|(?<name>\\b\\w+(?=\\())|${string}|${number}|${others}`,
  "g",
);
const withHashes = (name: string) =>
  new RegExp(`(?<note>(?<=^|\\s)#[^\\n]*)|${name}|${string}|${number}|${others}`, "gm");

const patterns: Partial<Record<CodeLanguage, RegExp>> = {
  python: withHashes("(?<name>\\b\\w+(?=\\())"),
  sh: withHashes("(?<name>\\$\\w+|(?<=\\s)--?[a-zA-Z][\\w-]*)"),
  console: withHashes("(?<name>(?<=\\s)--?[a-zA-Z][\\w-]*)"),
  json: new RegExp(`(?<name>"[^"]*"(?=\\s*:))|${string}|${number}|${others}`, "g"),
  http: /(?<name>^[\w-]+(?=:))|(?<number>\b\d+\b)|(?<text>"[^"]*")|(?<word>\w+)|(?<rest>[\s\S])/gm,
};
