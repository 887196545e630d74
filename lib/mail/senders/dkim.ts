import { createHash, createSign } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { DkimKey } from "@/lib/config/mail-settings";

/**
 * The fields that a mailbox shows or acts on, both List-Unsubscribe fields included (RFC 8058 §4). Each is listed once
 * more than it occurs, so that adding another one breaks the signature (RFC 6376 §5.4.2 and §8.15).
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

/** Signs a message stream. nodemailer's own DKIM signer cannot list a field twice. */
export function signStream(message: Readable, key: DkimKey): Readable {
  const signed = async function* () {
    yield sign(await buffer(message), key);
  };
  return Readable.from(signed(), { objectMode: false });
}

/** Prepends a DKIM signature to a message (RFC 6376; rsa-sha256, relaxed/relaxed). */
export function sign(message: Buffer, { domainName, keySelector, privateKey }: DkimKey): Buffer {
  // One character per byte, with the line ends that are sent.
  const text = message.toString("latin1").replace(/\r?\n/g, "\r\n");
  const headersEnd = text.indexOf("\r\n\r\n");
  const present = text.slice(0, headersEnd).split(/\r\n(?![ \t])/);
  const listed: string[] = [];
  const canonical: string[] = [];
  for (const name of signedFields) {
    // Verifiers read repeated fields from the bottom up (RFC 6376 §5.4.2).
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

/** A header field in relaxed canonical form, without its line end (RFC 6376 §3.4.2). */
function relaxField(field: string): string {
  const value = field.slice(field.indexOf(":") + 1).replace(/\r\n/g, "");
  return `${nameOf(field)}:${value.replace(/[ \t]+/g, " ").replace(/^ | $/g, "")}`;
}

/** A body in relaxed canonical form (RFC 6376 §3.4.4). */
function relaxBody(body: string): string {
  const lines = body.split("\r\n").map((line) => line.replace(/[ \t]+/g, " ").replace(/ $/, ""));
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => `${line}\r\n`).join("");
}
