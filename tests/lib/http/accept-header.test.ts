import { expect, it } from "vitest";
import { prefersMarkdown } from "@/lib/http/accept-header";

it.each([
  ["", false],
  ["*/*", false],
  ["text/html,application/xhtml+xml,*/*;q=0.8", false],
  ["text/markdown", true],
  ["text/markdown, text/html, */*", true],
  ["text/html, text/markdown;q=0.9", false],
  ["text/html;q=0.8, Text/Markdown;q=0.9", true],
  ["text/markdown;q=0", false],
])("a client that accepts %j prefers Markdown: %s", (accept, isPreferred) => {
  expect(prefersMarkdown(new Headers({ accept }))).toBe(isPreferred);
});
