import pino from "pino";
import { oncePerProcess } from "@/lib/once-per-process";
import { settings } from "@/lib/settings";

/**
 * The log: one JSON object a line on standard error, so that standard output is free for results.
 * No header, body, query, token, email or address is ever handed to it.
 */
export function log(): pino.Logger {
  return oncePerProcess("log", () =>
    pino(
      {
        level: settings().logLevel,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (level) => ({ level }) },
        serializers: { err: describeFailure },
      },
      pino.destination(2),
    ),
  );
}

/** What is logged of a failure. Other fields stay out: a database driver's `detail` quotes the row. */
function describeFailure(failure: unknown) {
  if (!(failure instanceof Error)) return { message: String(failure) };
  const { name, message, stack } = failure;
  return { name, code: (failure as NodeJS.ErrnoException).code, message, stack };
}
