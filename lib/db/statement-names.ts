import { createHash } from "node:crypto";

const names = new Map<string, string>();

/**
 * Gives a frequent statement a name, so that PostgreSQL parses and plans it once per connection. It is a digest of the
 * text: behind a pooler that knows nothing of names, another process may have used the connection before.
 */
export function nameStatement(sql: string): void {
  names.set(sql, createHash("sha256").update(sql).digest("hex").slice(0, 32)); // 63 at most
}

/** The name of a statement that {@link nameStatement} named. */
export function statementName(sql: string): string | undefined {
  return names.get(sql);
}
