import { createHash, createSign } from "node:crypto";
import { pipeline, type Readable, Transform } from "node:stream";
import type { DkimKey } from "@/lib/config/mail-settings";

/**
 * What a mailbox shows of a mail or acts on, both List-Unsubscribe fields included (RFC 8058 §4). Each is listed
 * once more than it is there, so that nobody can put a second one in front (RFC 6376 §5.4.2 and §8.15).
 */
const signedFields = [
  "from",
  "sender",
  "reply-to",
  "to",
  "cc",
  "subject",
  "date",
  "message-id",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "auto-submitted",
];

/** The message of a stream as a stream, signed; nodemailer's own signature cannot list a field twice. */
export function signStream(message: Readable, key: DkimKey): Readable {
  const chunks: Buffer[] = [];
  const signed = new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      done(null, sign(Buffer.concat(chunks), key));
    },
  });
  // What fails is told to whoever reads the result.
  return pipeline(message, signed, () => {});
}

/** A message with its DKIM signature before it (RFC 6376; rsa-sha256, relaxed/relaxed). */
export function sign(message: Buffer, { domainName, keySelector, privateKey }: DkimKey): Buffer {
  // One character a byte, and line ends as they go over the wire.
  const text = message.toString("latin1").replace(/\r?\n/g, "\r\n");
  const headersEnd = text.indexOf("\r\n\r\n");
  const present = text.slice(0, headersEnd).split(/\r\n(?![ \t])/);
  const listed: string[] = [];
  const canonical: string[] = [];
  for (const name of signedFields) {
    // A verifier takes the fields of a name from the bottom up.
    const fields = present.filter((field) => nameOf(field) === name).reverse();
    listed.push(...fields.map(() => name), name);
    canonical.push(...fields.map(relaxField));
  }
  const bodyHash = createHash("sha256")
    .update(relaxBody(text.slice(headersEnd + 4)), "latin1")
    .digest("base64");
  const unsigned = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domainName};`,
    ` s=${keySelector}; bh=${bodyHash};`,
    ` h=${listed.join(":").replace(/(.{1,70}:)/g, "$1\r\n  ")};`,
    " b=",
  ].join("\r\n");
  const signature = createSign("RSA-SHA256")
    .update([...canonical, relaxField(unsigned)].join("\r\n"), "latin1")
    .sign(privateKey, "base64")
    .replace(/.{72}/g, "$&\r\n  ");
  return Buffer.from(`${unsigned}${signature}\r\n${text}`, "latin1");
}

const nameOf = (field: string) => field.slice(0, field.indexOf(":")).trim().toLowerCase();

/** A header field in relaxed form, without its line end (RFC 6376 §3.4.2). */
function relaxField(field: string): string {
  const value = field.slice(field.indexOf(":") + 1).replace(/\r\n/g, "");
  return `${nameOf(field)}:${value.replace(/[ \t]+/g, " ").replace(/^ | $/g, "")}`;
}

/** A body in relaxed form (RFC 6376 §3.4.4). */
function relaxBody(body: string): string {
  const lines = body.split("\r\n").map((line) => line.replace(/[ \t]+/g, " ").replace(/ $/, ""));
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => `${line}\r\n`).join("");
}
