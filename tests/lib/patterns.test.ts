import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst, transformWithEsbuild } from "vite";
import { beforeAll, describe, expect, it } from "vitest";
import { bodyLimits, headBounds } from "@/lib/config/limits";
import { slowestMs } from "@/tests/support/pattern-attacks";

/*
 * Every pattern in lib/ and app/ is tried with the longest text that a stranger can send, dear as its own characters
 * can make it. A quadratic one takes thirty times as long as is allowed.
 */

const withinMs = 15;
const longest = headBounds.bytes;

/** Patterns that are not linear, and why they never read a long text: its author and its maximum length. */
const bounded: { pattern: RegExp; reads: string; characters: number }[] = [
  { pattern: /\d+$/, reads: "an address that the system takes for one", characters: 45 },
  { pattern: /[^\s<>,]+@[^\s<>,]+/g, reads: "the recipient of a mail that we wrote", characters: 512 },
  { pattern: /(.{1,70}:)/g, reads: "the names of the fields of a mail of ours", characters: 1024 },
  { pattern: /\[([^\]]+)\]\([^)]*\)/g, reads: "a section of our documents", characters: 512 },
  { pattern: /\s*\n\s*/g, reads: "the operator's command line", characters: 512 },
  { pattern: /^(.*?)\s*<([^<>]*)>$/, reads: "the operator's settings", characters: 512 },
];

/** Where a pattern is made of text, by us or with what is special in it taken out. */
const madeOfText = ["lib/db/redaction.ts", "lib/docs/highlight.ts", "lib/docs/search.ts", "lib/http/call.ts"];

type Found = { file: string; pattern: RegExp };
const found: Found[] = [];
const made = new Set<string>();

beforeAll(async () => {
  for (const file of sources()) {
    const { code } = await transformWithEsbuild(readFileSync(file, "utf8"), file, { jsx: "transform" });
    collect(parseAst(code), file);
  }
}, 60_000);

function sources(): string[] {
  const inFolders = ["lib", "app"].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
  );
  return [...inFolders, "middleware.ts"].filter((name) => /\.tsx?$/.test(name));
}

type Node = { regex?: { pattern: string; flags: string }; callee?: { name?: string } };

/** Finds the patterns below a node of a program. */
function collect(node: object, file: string): void {
  const { regex, callee } = node as Node;
  if (regex) found.push({ file, pattern: new RegExp(regex.pattern, regex.flags) });
  if (callee?.name === "RegExp") made.add(file);
  for (const child of Object.values(node)) {
    if (typeof child === "object" && child !== null) collect(child, file);
  }
}

/** The longest text that a pattern can be given: a head, or of what the MCP server reads a body. */
function charactersFor({ file, pattern }: Found): number {
  const known = bounded.find((one) => String(one.pattern) === String(pattern));
  return known?.characters ?? (file.startsWith("lib/mcp/") ? bodyLimits.mcp : longest);
}

describe("the patterns in the code", () => {
  it("take no longer than they should for the longest and worst text that reaches them", {
    timeout: 120_000,
  }, () => {
    expect(found.length).toBeGreaterThan(100);
    const slow = found
      .map((one) => ({ ...one, ms: slowestMs(one.pattern, charactersFor(one)) }))
      .filter(({ ms }) => ms >= withinMs);
    expect(slow).toEqual([]);
  });

  it("are no longer listed as bounded once they are gone", () => {
    const all = new Set(found.map(({ pattern }) => String(pattern)));
    for (const { pattern } of bounded) expect(all).toContain(String(pattern));
  });

  it("are made of text in few places alone", () => {
    expect([...made].sort()).toEqual(madeOfText);
  });
});
