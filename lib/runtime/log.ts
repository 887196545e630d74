import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import pino from "pino";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { toAscii, toReadable } from "@/lib/runtime/log-format";
import { NonblockingStderr } from "@/lib/runtime/nonblocking-stderr";

/**
 * The log: one JSON object a line on standard error, so that standard output is free for results; in development, lines
 * for people. No header, body, query, token, email or address is ever handed to it. Lines are written in batches; a
 * process that is killed loses the last fifth of a second.
 */
export function log(): pino.Logger {
  return processSingleton("log", () => makeLog(settings().logLevel));
}

/**
 * Writes an entry of fields that are JSON already, in ASCII. It is for the line that every request makes: pino looks at each value
 * of an entry, which takes four times as long as all else that is done for that line.
 */
export function logFields(level: "debug" | "info", toFields: () => string): void {
  if (!log().isLevelEnabled(level)) return;
  destination().writeAscii(`{"level":"${level}","time":${Date.now()},${toFields()}}\n`);
}

/** Says something before the settings can tell how much is to be said, or because they cannot. */
export function logBeforeSettings(): pino.Logger {
  return makeLog("info");
}

function makeLog(level: string): pino.Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: describeFailure },
    },
    destination(),
  );
}

const destination = () =>
  processSingleton("standard error", () => {
    const stderr = new NonblockingStderr();
    process.on("exit", () => stderr.finish());
    const isForPeople = process.env.NODE_ENV !== "production";
    const toLine = isForPeople ? toReadable : toAscii;
    return {
      write: (line: string) => stderr.write(toLine(line)),
      /** A line that is ASCII as it stands. */
      writeAscii: (line: string) => stderr.write(isForPeople ? toReadable(line) : line),
    };
  });

/** Repeats what a process of ours writes: lines of its log as they are, all else as a warning. */
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
