import { Console } from "node:console";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { log } from "@/lib/runtime/log";

const maxCharacters = 8 * 1024;

/**
 * Has everything else that is said in this process said in the log: what libraries print on the console or write to
 * standard error, and Node's own warnings. Standard output stays free for results.
 */
export function captureOutput(): void {
  globalThis.console = new Console({ stdout: saying("info"), stderr: saying("warn"), colorMode: false });
  const toLog = saying("warn");
  process.stderr.write = toLog.write.bind(toLog) as typeof process.stderr.write;
  // Node's own listener writes to the descriptor itself.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log().warn({ err: warning }, "a warning of Node's"));
}

/** Has what nobody caught said in the log, before it ends the process. */
export function logUncaught(): void {
  process.on("uncaughtException", (failure) => {
    log().fatal({ err: failure }, "a failure that nobody caught ends the process");
    process.exit(1);
  });
}

/** One entry for each time that something is written, however many lines that is. */
function saying(level: "info" | "warn"): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const said = stripVTControlCharacters(String(chunk)).trim();
      if (said) log()[level]({ from: "the console" }, said.slice(0, maxCharacters));
      done();
    },
  });
}
