import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** Settings by name, as the environment has them; none is empty. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads the `.env` files into the environment, the same ones as Next and in its order, but as they are written: Next replaces
 * what follows a `$`, also in quotes and in variables of the environment.
 *
 * @param complain - called for each file that cannot be read, and for each value that Next would have read otherwise
 * @param given - the variables that are already set: they keep their value
 */
export function loadEnvFiles(
  complain: (complaint: string) => void,
  given: Environment = { ...process.env },
): void {
  // `set NODE_ENV=production && node …` of the Windows command line leaves a blank behind it.
  const nodeEnv = given.NODE_ENV?.trim();
  const mode = nodeEnv === "production" ? "production" : "development";
  const files = [".env", `.env.${mode}`, ".env.local", `.env.${mode}.local`].map((file) => {
    const values = parseEnv(quoteHashes(read(file, complain)));
    for (const [name, value] of Object.entries(values)) {
      if (value?.includes("\\$"))
        complain(`${file}: ${name} has a \\ before a $, which is part of the value: no $ is replaced`);
    }
    return values;
  });
  Object.assign(process.env, ...files, given, nodeEnv && { NODE_ENV: nodeEnv });
}

/** The text of a file, without the mark that Windows puts before it. PowerShell's `>` writes UTF-16, and says so by it. */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/** The text of a file that may be missing. A folder of that name is not read. */
function read(file: string, complain: (complaint: string) => void): string {
  try {
    return readText(file);
  } catch (failure) {
    const { code = "" } = failure as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EISDIR") complain(`${file} cannot be read (${code})`);
    return "";
  }
}

/**
 * Quotes a value like `pa#ss`, also where a comment follows: for shells and Docker Compose it begins only after a blank, and
 * Node would cut the value at its own #.
 */
function quoteHashes(text: string): string {
  const line =
    /^([^\S\n]*(?:export[^\S\n]+)?\w+[^\S\n]*=[^\S\n]*)([^\s#'"`][^\s'"`]*#[^\s']*)(?=[^\S\n]*$|[^\S\n]+#)/gm;
  return text.replace(line, "$1'$2'");
}
