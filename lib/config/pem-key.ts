/**
 * The DER of a key in PEM, in whatever form it survived an environment: with real line breaks or blanks for them, with `\n`
 * or the `n` that is left of it without quotes in systemd's or compose's files, in quotes as `docker --env-file` passes them
 * on, as the base64 of the PEM, or as the base64 between its lines alone. An empty buffer if it is none of these.
 */
export function readDer(text: string): Buffer {
  const given = text.trim().replace(/^(["'])(.*)\1$/s, "$2");
  const decoded = Buffer.from(given, "base64").toString("latin1");
  const pem = decoded.startsWith("-----BEGIN") ? decoded : given;
  const [, between = pem] = /-----BEGIN [A-Z ]+-----(.*?)-----END /s.exec(pem) ?? [];
  const lines = between.replace(/(?<!\\)\\{1,4}[rn]/g, "").replace(/\s/g, "");
  // DER begins with a sequence, so its base64 with M (ITU-T X.690 §8.9): an n is left of a line break.
  const body = lines.startsWith("n")
    ? lines.slice(1).replace(/.{1,65}/g, (line) => line.replace(/n$/, ""))
    : lines;
  return Buffer.from(body, "base64");
}
