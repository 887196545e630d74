import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { clientFiles } from "@/lib/http/pages";

type Language = keyof typeof clientFiles;

/** The text of a client file. */
export function readClient(language: Language): string {
  const file = join(process.cwd(), "lib/docs/clients", `corner-office${extname(clientFiles[language].path)}`);
  return readFileSync(file, "utf8");
}

/** The part of a client file below its comment `--- <title> ---`, up to the next one. */
export function readPart(language: Language, title: string): string {
  const [, part] = readClient(language).split(` --- ${title} ---\n`);
  if (part === undefined) throw new Error(`The ${language} client has no part "${title}"`);
  return part.replace(/^ *(?:\/\/|#) --- [\s\S]*/m, "").replace(/^\n+/, "");
}
