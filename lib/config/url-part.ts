/** Decodes what is percent-encoded in a part of an address; a `%` that begins no character is one. */
export function decodePart(text = ""): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
