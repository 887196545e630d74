import { Console } from "node:console";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { log } from "@/lib/runtime/log";

const maxCharacters = 8 * 1024;

/**
 * Redirects all other output of this process to the log: the console, libraries that write to standard error, and
 * Node's warnings. Standard output stays free for results.
 */
export function captureOutput(): void {
  globalThis.console = new Console({
    stdout: logStream("info"),
    stderr: logStream("warn"),
    colorMode: false,
  });
  const toLog = logStream("warn");
  process.stderr.write = toLog.write.bind(toLog) as typeof process.stderr.write;
  // Node's default listener writes to the file descriptor directly.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log().warn({ err: warning }, "Node.js warning"));
}

/** Logs an uncaught exception before it ends the process. */
export function logUncaught(): void {
  process.on("uncaughtException", (failure) => {
    log().fatal({ err: failure }, "an uncaught failure ends the process");
    process.exit(1);
  });
}

/** A stream that writes one log entry per write, even if the text has several lines. */
function logStream(level: "info" | "warn"): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const text = stripVTControlCharacters(String(chunk)).trim();
      if (text) log()[level]({ from: "the console" }, text.slice(0, maxCharacters));
      done();
    },
  });
}
