import { writeSync } from "node:fs";
import pino from "pino";
import { oncePerProcess } from "@/lib/process/once-per-process";
import { settings } from "@/lib/settings/settings";

const flushEveryMs = 200;
const flushAtCharacters = 4096;
const mostHeldCharacters = 1024 * 1024; // what a reader may be behind before lines are dropped

/**
 * The log: one JSON object a line on standard error, so that standard output is free for results.
 * No header, body, query, token, email or address is ever handed to it. Lines are written in batches; a
 * process that is killed loses the last fifth of a second.
 */
export function log(): pino.Logger {
  return oncePerProcess("log", () => {
    const destination = new BatchedStderr();
    setInterval(() => destination.flush(), flushEveryMs).unref();
    process.on("exit", () => destination.flush());
    return pino(
      {
        level: settings().logLevel,
        base: null,
        formatters: { level: (level) => ({ level }) },
        serializers: { err: describeFailure },
      },
      destination,
    );
  });
}

/**
 * Standard error, written in batches. A reader that is slow gets its lines later, and one that went away gets none:
 * the log must never hold up the service. (Pino's own destination waits for such a reader for ever.)
 */
class BatchedStderr {
  private held = "";

  write(line: string): void {
    if (this.held.length < mostHeldCharacters) this.held += line;
    if (this.held.length >= flushAtCharacters) this.flush();
  }

  flush(): void {
    let left = Buffer.from(this.held);
    this.held = "";
    try {
      while (left.length > 0) left = left.subarray(writeSync(2, left));
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === "EAGAIN") this.held = left.toString();
    }
  }
}

/** What is logged of a failure. Other fields stay out: a database driver's `detail` quotes the row. */
function describeFailure(failure: unknown) {
  if (!(failure instanceof Error)) return { message: String(failure) };
  const { name, message, stack } = failure;
  return { name, code: (failure as NodeJS.ErrnoException).code, message, stack };
}
