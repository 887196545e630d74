import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createFolder } from "@/tests/support/leash";
import type { Environment } from "@/tests/support/service";

const run = promisify(execFile);

/** A folder in which the lines of a document can be pasted as in the project's own, and that keeps what they write. */
export function folderOfService(): string {
  const folder = createFolder();
  for (const name of ["package.json", "dist", "lib", "node_modules"])
    symlinkSync(resolve(name), join(folder, name));
  return folder;
}

/** The blocks of code of a section of a document, without its subsections. */
export function blocksOf(markdown: string, heading: string): { language: string; text: string }[] {
  const [, section = ""] = markdown.split(`## ${heading}\n`);
  const blocks = (section.split("\n## ")[0] ?? "").matchAll(/```(\w+)\n(.*?)```/gs);
  return [...blocks].map(([, language = "", text = ""]) => ({ language, text }));
}

/**
 * Does what a reader of blocks of code does: pastes lines into a shell, and saves programs by these names. Returns what was
 * printed.
 */
export async function follow(
  blocks: { language: string; text: string }[],
  names: Record<string, string>,
  folder: string,
  environment: Environment,
): Promise<string> {
  let printed = "";
  const env = { PATH: process.env.PATH, ...environment } as unknown as NodeJS.ProcessEnv;
  for (const { language, text } of blocks) {
    if (language !== "sh") writeFileSync(join(folder, names[language] ?? ""), text);
    else printed += (await run("sh", ["-ec", text], { cwd: folder, env })).stdout;
  }
  return printed;
}
