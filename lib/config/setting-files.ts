import { type Environment, readText } from "@/lib/config/env-files";

/**
 * The value of a variable, or what the file holds that `<name>_FILE` names: Docker, Kubernetes and systemd give secrets as
 * files. The line breaks at its end, which editors and `echo` put there, are not part of the value; blanks are.
 *
 * @param faults - gets a line if both are set, or if the file is empty or cannot be read
 * @returns undefined if neither is set
 */
export function readVariable(environment: Environment, name: string, faults: string[]): string | undefined {
  const isSet = (text = "") => text.trim() !== "";
  const given = asMeant(name, environment[name]);
  const file = environment[`${name}_FILE`]?.trim();
  if (!file) return isSet(given) ? given : undefined;
  if (isSet(given)) {
    faults.push(`${name}, ${name}_FILE: set one, not both`);
    return undefined;
  }
  try {
    const text = readText(file).replace(/(?<![\r\n])[\r\n]+$/, "");
    if (isSet(text)) return text;
    faults.push(`${name}_FILE: ${file} is empty`);
  } catch (failure) {
    faults.push(`${name}_FILE: ${file} cannot be read (${(failure as NodeJS.ErrnoException).code})`);
  }
  return undefined;
}

/**
 * A variable without what its way here adds: the line break that `echo` puts into a secret of Kubernetes, the blanks that
 * Windows' `set NAME=value && …` and `docker run --env-file` leave behind it, and the quotes that this keeps round it. What
 * seals data stays as it is, or nothing could open that.
 */
function asMeant(name: string, sent: string | undefined): string | undefined {
  if (/^(?:APP_SECRET|BACKUP_PASSPHRASE)/.test(name)) return sent;
  const value = sent?.trim();
  return /^(["'])(.*)\1$/s.exec(value ?? "")?.[2] ?? value;
}
