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
  return oncePerProcess("log", () => {
    const destination = new PatientStderr();
    process.on("exit", () => destination.finish());
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

/** What is logged of a failure. Other fields stay out: a database driver's `detail` quotes the row. */
function describeFailure(failure: unknown) {
  if (!(failure instanceof Error)) return { message: String(failure) };
  const { name, message, stack } = failure;
  return { name, code: (failure as NodeJS.ErrnoException).code, message, stack };
}
