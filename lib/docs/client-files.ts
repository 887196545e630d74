import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { code } from "@/lib/docs/markdown";
import { clientFiles } from "@/lib/http/register/publications";

type Language = keyof typeof clientFiles;

/** The text of a client file. */
export function readClient(language: Language): string {
  const file = join(process.cwd(), "lib/docs/clients", `corner-office${extname(clientFiles[language].path)}`);
  return readFileSync(file, "utf8");
}

/** The part of each client file below its comment `--- <title> ---`, up to the next one, as blocks of code. */
export function readParts(title: string, ...languages: Language[]): string {
  const parts = languages.map((language) => {
    const [, part] = readClient(language).split(` --- ${title} ---\n`);
    if (part === undefined) throw new Error(`The ${language} client has no part "${title}"`);
    const text = part.replace(/^ *(?:\/\/|#) --- [\s\S]*/m, "").replace(/^\n+/, "");
    return code(language === "typescript" ? "ts" : language, text);
  });
  return parts.join("\n\n");
}
