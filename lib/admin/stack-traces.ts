import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { posix } from "node:path";
import { createInterface } from "node:readline";
import { shellAct } from "@/lib/admin/act";

/** Prints a log, with the places in our programs as places in their sources. */
export const stackAct = shellAct({
  usage: "stack",
  words: "read a log of this build on standard input, and print it with its stacks in our sources",
  examples: ["stack < service.log"],
  async runWithoutStore() {
    const maps = new Map<string, SourceMap | undefined>();
    for await (const line of createInterface({ input: process.stdin })) {
      process.stdout.write(`${line.replace(place, (found, ...at) => toSource(found, at, maps))}\n`);
    }
    return undefined;
  },
});

/** A program of ours, a line and a column, both counted from 1. */
const place = /dist\/((?:server|admin|demo|chunks)\/[\w-]+\.js):(\d+):(\d+)/g;

function toSource(found: string, [file, line, column]: string[], maps: Map<string, SourceMap | undefined>) {
  const path = `dist/${file}`;
  if (!maps.has(path)) maps.set(path, readMap(path));
  const source = maps.get(path)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (!source || !("originalSource" in source)) return found;
  const { originalSource, originalLine, originalColumn } = source;
  return `${posix.join(posix.dirname(path), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
}

function readMap(path: string): SourceMap | undefined {
  const file = `${path}.map`;
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}
