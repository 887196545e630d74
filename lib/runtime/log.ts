import pino from "pino";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/process-singleton";
import { serializeError, toAscii, toReadable } from "@/lib/runtime/log-format";
import { NonblockingStderr } from "@/lib/runtime/nonblocking-stderr";

/**
 * The log: one JSON object per line on standard error, which keeps standard output free for results; readable lines in
 * development. Never pass it a header, body, query, token, email or address. Lines are written in batches: if the
 * process is killed, up to 200 ms of log are lost.
 */
export const log = perProcess("log", () => makeLog(settings().logLevel));

/**
 * Writes an entry whose fields are already ASCII JSON. Used for the line that every request logs: pino inspects every
 * value, which takes four times as long as everything else for that line.
 */
export function logFields(level: "debug" | "info", toFields: () => string): void {
  if (!log().isLevelEnabled(level)) return;
  destination().writeAscii(`{"level":"${level}","time":${Date.now()},${toFields()}}\n`);
}

/** A log for use before the settings are known, or when they are invalid. */
export function logBeforeSettings(): pino.Logger {
  return makeLog("info");
}

function makeLog(level: string): pino.Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: (failure) => serializeError(failure) },
    },
    destination(),
  );
}

const destination = perProcess("standard error", () => {
  const stderr = new NonblockingStderr();
  process.on("exit", () => stderr.finish());
  const isForPeople = process.env.NODE_ENV !== "production";
  const toLine = isForPeople ? toReadable : toAscii;
  return {
    write: (line: string) => stderr.write(toLine(line)),
    /** For a line that is already ASCII. */
    writeAscii: (line: string) => stderr.write(isForPeople ? toReadable(line) : line),
  };
});
