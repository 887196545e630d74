import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const styles = ["public/pages.css", "public/home.css", "public/documents.css", "dist/office/office.css"];

// Chrome reads nested rules from 120 on, Safari from 17.2; an iPhone X ends at 16, Windows 8 at Chrome 109.
it.each(styles)("%s has no rules in rules, and the prefixes of Safari", (path) => {
  const text = readFileSync(path, "utf8").replaceAll(/@(?:media|supports|container|keyframes)[^{]*\{/g, "");
  expect(text.match(/\{[^{}]*\{/g)).toBeNull();
  expect(text.match(/[{;](?:text-size-adjust|user-select):/g)?.length).toBe(
    text.match(/-webkit-(?:text-size-adjust|user-select):/g)?.length,
  );
});
