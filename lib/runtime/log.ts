import { fstatSync } from "node:fs";
import pino from "pino";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";
import {
  type LogFormat,
  lineFormats,
  serializeError,
  toAscii,
  withPriorities,
} from "@/lib/runtime/log-format";
import { NonblockingStderr } from "@/lib/runtime/nonblocking-stderr";

/**
 * The log: one JSON object per line on standard error, which keeps standard output free for results, or as `LOG_FORMAT` says.
 * Never pass it a header, body, query, token, email or address. Lines are written in batches: if the
 * process is killed, up to 200 ms of log are lost.
 */
export const log = perProcess("log", () => makeLog(settings().logLevel, format()));

const format = perProcess("log format", () => toJournal(lineFormats[settings().logFormat]));

/**
 * Writes an entry whose fields are already ASCII JSON. Used for the line that every request logs: pino inspects every
 * value, which takes four times as long as everything else for that line.
 */
export function logFields(level: "debug" | "info", toFields: () => string): void {
  if (!log().isLevelEnabled(level)) return;
  stderr().write(format()(`{"level":"${level}","time":${Date.now()},${toFields()}}\n`));
}

/** A log for use before the settings are known, or when they are invalid. */
export function logBeforeSettings(): pino.Logger {
  const usual: LogFormat = process.env.NODE_ENV === "production" ? "json" : "text";
  return makeLog("info", toJournal(lineFormats[usual]));
}

function makeLog(level: string, toLine: (line: string) => string): pino.Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: (failure) => serializeError(failure) },
    },
    { write: (line: string) => stderr().write(toLine(toAscii(line))) },
  );
}

const stderr = perProcess("standard error", () => {
  const stderr = new NonblockingStderr((line) => format()(line));
  process.on("exit", () => stderr.finish());
  return stderr;
});

/** The lines with their priorities, where standard error is systemd's journal (JOURNAL_STREAM of systemd.exec). */
function toJournal(toLine: (line: string) => string): (line: string) => string {
  const { dev, ino } = fstatSync(2);
  return process.env.JOURNAL_STREAM === `${dev}:${ino}` ? withPriorities(toLine) : toLine;
}
