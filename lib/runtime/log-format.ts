import { styleText } from "node:util";

type Entry = Record<string, unknown> & { level: string; time: number };

/**
 * A log line in production: ASCII JSON. Text from a client is escaped, so it cannot start a new line, a terminal escape
 * sequence or another reading direction.
 */
export function toAscii(line: string): string {
  return line.replace(
    /[^\x20-\x7e\n]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const colours = { debug: "gray", info: "green", warn: "yellow", error: "red", fatal: "red" } as const;

/** A log entry for a person at a terminal: time, level and message, then the other fields in grey. */
export function toReadable(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Entry;
  const { method, path, status, ms, ...rest } = fields;
  const [message = "", ...more] = String(msg ?? `${method} ${path} ${status} ${ms} ms`).split("\n");
  const colour = colours[level as keyof typeof colours] ?? "white";
  const words = [
    new Date(time).toTimeString().slice(0, 8),
    paint(colour, level.toUpperCase().padEnd(5)),
    toAscii(message),
    ...Object.entries(msg ? fields : rest).map(([name, value]) =>
      paint("gray", toAscii(`${name}=${JSON.stringify(value)}`)),
    ),
  ];
  const lines = [...more, ...linesOf(err)];
  // Indented, so that no line looks like a separate entry.
  return [words.join(" "), ...lines.map((line) => `    ${toAscii(line)}`), ""].join("\n");
}

function linesOf(failure: unknown): string[] {
  if (!failure) return [];
  const { stack, message } = failure as { stack?: string; message?: string };
  return (stack ?? message ?? "").split("\n");
}

function paint(colour: Parameters<typeof styleText>[0], text: string): string {
  return process.stderr.isTTY && process.stderr.hasColors() ? styleText(colour, text) : text;
}

/** A JSON line with its time as people and most collectors read it. */
const toIso = (line: string) =>
  line.replace(/"time":(\d+)/, (_, ms) => `"time":"${new Date(Number(ms)).toISOString()}"`);

/** The words of Google Cloud for our levels (LogSeverity). */
const severities: Record<string, string> = { warn: "WARNING", fatal: "CRITICAL" };

/** A JSON line as Google Cloud reads it, which takes a line of standard error for an error unless it has a severity. */
const toGoogle = (line: string) =>
  toIso(line)
    .replace(/"level":"(\w+)"/, (_, level) => `"severity":"${severities[level] ?? level.toUpperCase()}"`)
    .replace(',"msg":', ',"message":');

/** What `LOG_FORMAT` makes of an entry, which is a line of ASCII JSON with its time in milliseconds. */
export const lineFormats = { json: (line: string) => line, iso: toIso, google: toGoogle, text: toReadable };
export type LogFormat = keyof typeof lineFormats;

/** The priorities of syslog, which journalctl's -p asks for. */
const priorities: Record<string, number> = { debug: 7, info: 6, warn: 4, error: 3, fatal: 2 };

/** Writes a priority before each line of an entry, which systemd takes off (sd-daemon(3)). */
export function withPriorities(toLine: (line: string) => string): (line: string) => string {
  return (entry) => {
    const priority = priorities[/"level":"(\w+)"/.exec(entry)?.[1] ?? ""] ?? 6;
    return toLine(entry).replace(/^(?=.)/gm, `<${priority}>`);
  };
}

const maxCauses = 8;

/**
 * Serializes an error for the log, with the errors that caused it: those of an `AggregateError`, and its `cause`s. It
 * leaves out other fields: a database driver's `detail` quotes the row.
 */
export function serializeError(failure: unknown, depth = 0): object {
  if (!(failure instanceof Error)) return { message: String(failure) };
  const { name, message, stack, cause } = failure;
  const { code, errors = [] } = failure as NodeJS.ErrnoException & { errors?: unknown[] };
  const causes = [...errors, ...(cause === undefined ? [] : [cause])].slice(
    0,
    depth < maxCauses ? maxCauses : 0,
  );
  return {
    name,
    code,
    message,
    stack,
    ...(causes.length > 0 && { causes: causes.map((one) => serializeError(one, depth + 1)) }),
  };
}
