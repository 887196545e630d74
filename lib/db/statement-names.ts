const names = new Map<string, string>();

/** Gives a frequent statement a name, so that PostgreSQL parses and plans it once per connection. */
export function nameStatement(sql: string): void {
  if (!names.has(sql)) names.set(sql, `frequent-${names.size}`);
}

/** The name of a statement that {@link nameStatement} named. */
export function statementName(sql: string): string | undefined {
  return names.get(sql);
}
