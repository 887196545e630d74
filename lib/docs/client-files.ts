import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { code } from "@/lib/docs/markdown";
import { plainText, publish } from "@/lib/docs/publication-handler";
import type { RouteHandler } from "@/lib/http/handler";
import { clientFiles } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";

type Language = keyof typeof clientFiles;

/** The text of a client file for apps. */
export const readClient = (language: Language) =>
  readClientFile(`corner-office${extname(clientFiles[language].path)}`);

/** The text of a file in `lib/docs/clients`. */
export function readClientFile(name: string): string {
  return readFileSync(join(process.cwd(), "lib/docs/clients", name), "utf8");
}

/** The handler of a client file: plain text, because no media type of these languages is registered. It never changes. */
export function publishClient(route: Route, read: () => string): RouteHandler {
  const headers = ["content-disposition", `attachment; filename="${route.path.split("/").at(-1)}"`];
  return publish(route, () => ({ ...plainText([read()]), headers }));
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
