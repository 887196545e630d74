const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of a JSON text in UTF-8 (RFC 8259 §8.1); `undefined` when it is not one. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}
