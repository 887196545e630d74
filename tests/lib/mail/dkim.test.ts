import { describe, expect, it } from "vitest";
import { sign } from "@/lib/mail/senders/dkim";
import { dkimKey, verifyDkim } from "@/tests/support/dkim";

const key = { domainName: "example.com", keySelector: "mail", privateKey: dkimKey };

const head = [
  "From: Corner Office <office@example.com>",
  "To: ceo@example.org",
  "Reply-To: help@example.com",
  "Subject: Gr=?UTF-8?Q?=C3=BC=C3=9Fe?=,\r\n  folded \t twice",
  "Date: Sat, 21 Nov 2026 12:00:00 +0000",
  "Message-ID: <1@example.com>",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "List-Unsubscribe: <https://office.example.com/api/email/unsubscribe?token=v1.x.y>",
  "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
].join("\r\n");

const signed = (body: string) =>
  sign(Buffer.from(`${head}\r\n\r\n${body}`, "latin1"), key).toString("latin1");

describe("a signed mail", () => {
  const expectAll = async (verdict: string, messages: Record<string, string>) => {
    for (const [name, message] of Object.entries(messages))
      expect(await verifyDkim(message), name).toBe(verdict);
  };

  it("passes for every kind of body, and after a relay", async () => {
    await expectAll("pass", {
      "with words": signed("Hello.\r\n"),
      "without any": signed(""),
      "of blank lines": signed("\r\n \r\n\t\r\n\r\n"),
      "that does not end its last line": signed("Hello,\r\n\r\nCEO"),
      "with blanks in odd places": signed("  a \t b  \r\n\tc\r\n\r\n\r\n"),
      "in bytes beyond ASCII": signed(Buffer.from("Grüße — 你好\r\n").toString("latin1")),
      "with bare line feeds": signed("one\ntwo\n"),
      refolded: signed("Hello.\r\n").replace(",\r\n  folded", ",\r\n\tfolded"),
      relayed: `Received: from us by them\r\n${signed("Hello.\r\n")}`,
    });
  });

  it("fails if a second signed field is prepended", async () => {
    const fields = [
      "From: The bank <bank@evil.example>",
      "Sender: bank@evil.example",
      "Reply-To: thief@evil.example",
      "To: somebody@example.net",
      "Cc: somebody@example.net",
      "Subject: Pay at once",
      "Date: Sun, 22 Nov 2026 12:00:00 +0000",
      "Message-ID: <2@example.com>",
      "MIME-Version: 1.0",
      "Content-Type: text/html",
      "Content-Transfer-Encoding: base64",
      "List-Unsubscribe: <https://evil.example/>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ];
    const mail = signed("Hello.\r\n");
    await expectAll("fail", Object.fromEntries(fields.map((field) => [field, `${field}\r\n${mail}`])));
  });

  it("fails if a word or a field is changed or removed", async () => {
    const mail = signed("Hello.\r\n");
    await expectAll("fail", {
      "a word": mail.replace("Hello", "Hullo"),
      "the link": mail.replace("token=v1", "token=v2"),
      "the one click": mail.replace("One-Click", "Two-Click"),
      "a field gone": mail.replace(/^List-Unsubscribe-Post:.*\r\n/m, ""),
    });
  });
});
