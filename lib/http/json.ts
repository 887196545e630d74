const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses JSON in UTF-8 (RFC 8259 §8.1). Returns `undefined` if it is invalid. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}
