import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import pino from "pino";
import { oncePerProcess } from "@/lib/process/once-per-process";
import { PatientStderr } from "@/lib/process/stderr";
import { settings } from "@/lib/settings/settings";

/**
 * The log: one JSON object a line on standard error, so that standard output is free for results.
 * No header, body, query, token, email or address is ever handed to it. Lines are written in batches; a
 * process that is killed loses the last fifth of a second.
 */
export function log(): pino.Logger {
  return oncePerProcess("log", () =>
    pino(
      {
        level: settings().logLevel,
        base: null,
        formatters: { level: (level) => ({ level }) },
        serializers: { err: describeFailure },
      },
      destination(),
    ),
  );
}

const destination = () =>
  oncePerProcess("standard error", () => {
    const made = new PatientStderr();
    process.on("exit", () => made.finish());
    return made;
  });

/** Repeats what a process of ours writes to its standard error: lines of its log as they are, all else as a warning. */
export function relayToLog(written: Readable): void {
  createInterface({ input: written }).on("line", (line) => {
    if (isLogLine(line)) destination().write(`${line}\n`);
    else if (line.trim()) log().warn({ from: "the pages" }, line);
  });
}

function isLogLine(line: string): boolean {
  if (!line.startsWith('{"level":')) return false;
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

/** What is logged of a failure. Other fields stay out: a database driver's `detail` quotes the row. */
function describeFailure(failure: unknown) {
  if (!(failure instanceof Error)) return { message: String(failure) };
  const { name, message, stack } = failure;
  return { name, code: (failure as NodeJS.ErrnoException).code, message, stack };
}
