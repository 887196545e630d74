import { describe, expect, it } from "vitest";
import {
  parseEmailAddress,
  parseTypedEmail,
  quoteLocalPart,
  whyNotAnEmail,
} from "@/lib/config/email-address";

describe("an email address", () => {
  it.each([
    // What browsers accept (WHATWG HTML §4.10.5.1.5).
    ["ceo@example.com"],
    ["CEO@Example.COM", "ceo@example.com"],
    ["o'brien@example.com"],
    ["ceo+office@example.com"],
    ["a!#$%&'*+/=?^_`{|}~-b@example.com"],
    ["ceo@localhost"],
    ["ceo@192.0.2.1"],
    ["ceo@123.example"],
    ["ceo@xn--mnchen-3ya.de"],
    ["ceo@example.xn--p1ai"],
    ["1@2.de"],
    [`${"a".repeat(64)}@example.com`],
    [`${"a".repeat(242)}@example.com`],
    // Dots as carriers in Japan gave them, also in the quotes that mail needs for them.
    ["a..b@docomo.ne.jp"],
    ["a.@ezweb.ne.jp"],
    [".a@docomo.ne.jp"],
    ['"a..b"@docomo.ne.jp', "a..b@docomo.ne.jp"],
    // What was accepted before.
    ["ceo@a-.example.com"],
    ["_ceo-@example.com"],
    // Domains of other scripts, as what DNS has.
    ["ceo@münchen.de", "ceo@xn--mnchen-3ya.de"],
    ["ceo@пример.рф", "ceo@xn--e1afmkfd.xn--p1ai"],
    ["ceo@例え。jp", "ceo@xn--r8jz45g.jp"],
    ["ceo@faß.de", "ceo@xn--fa-hia.de"],
    ["ceo@💩.la", "ceo@xn--ls8h.la"],
  ])("can be %s", (text, stored = text) => {
    expect(parseEmailAddress(text)).toBe(stored);
    expect(parseTypedEmail(` ${text}\t`)).toBe(stored);
    expect(parseEmailAddress(stored)).toBe(stored);
  });

  it.each([
    ["ｃｅｏ＠ｅｘａｍｐｌｅ．ｃｏｍ", "full-width, by an IME"],
    ["\u202aceo@example.com\u202c", "pasted out of a contact, with marks of direction"],
    ["\ufeffceo@example.com\u200b", "pasted with a byte order mark and a space of no width"],
    ["\u00a0ceo@example.com\u3000", "between spaces that are not ASCII"],
    ["Ceo, Office <ceo@example.com>", "as a mail program copies it"],
    ["<ceo@example.com>", "as a mail program copies it, without a name"],
    // growthbook/growthbook#6629, chatwoot/chatwoot#15645: Outlook ends each with a semicolon.
    ["Ceo Office <ceo@example.com>; ", "as a list of recipients has it"],
    ["ceo@example.com <ceo@example.com>", "as a mail program copies it that knows no name"],
    ["'ceo@example.com' <CEO@example.com>;", "as Outlook copies it that knows no name"],
    ["'ceo@example.com'", "in quotes"],
    ["mailto:ceo@example.com", "as a browser copies a link"],
    // ProtonMail/proton-mail-android#171, linagora/tmail-flutter#1603.
    ["ceo@example. com ", "with the blank that a keyboard puts after a dot"],
    ["ceo@example.com. ", "with the dot that a keyboard makes of two blanks"],
    ["ceo@example.com,", "out of a sentence"],
  ])("can be typed as %j: %s", (text) => {
    expect(parseTypedEmail(text)).toBe("ceo@example.com");
  });

  it.each([
    [""],
    ["ceo"],
    ["@example.com"],
    ["ceo@"],
    ["ceo@.example.com"],
    ["ceo@example..com"],
    ["ceo@-example.com"],
    ["ceo@exa_mple.com"],
    ["ceo@[192.0.2.1]"],
    ["two@at@example.com"],
    ["ceo office@example.com"],
    ["ceo@example.com,other@example.com"],
    ["ceo@example.com;other@example.com"],
    ["(ceo)@example.com"],
    ["ceo@example.com <other@example.com>"],
    ["<ceo@example.com>, <other@example.com>"],
    ["'ceo@example.com' <other@example.com>"],
    ["'ceo@example.com\""],
    ["ceo@example.com; other@example.com;"],
    ["ceo@example.com.."],
    ["ceo\\@example.com"],
    ['"ceo@example.com'],
    ['"c e o"@example.com'],
    ['"ceo\\""@example.com'],
    ['""@example.com'],
    ["ceo@example.com\r\nBcc: other@example.com"],
    ["ceo\nBcc: other@example.com"],
    ["ceo\0@example.com"],
    ["ceo@münchen.de/evil.example"],
    ["ceo@münchen.de:25"],
    ["ceo@münchen.de%2eevil.example"],
    ["ceo@mün chen.de"],
    ["ceo@münchen.de\u2028.example.com"],
    ["ceo@xn--.münchen.de"],
    [`${"a".repeat(243)}@example.com`],
    [`${"a".repeat(50)}@${"ü".repeat(200)}.de`],
  ])("is never %j", (text) => {
    expect(parseEmailAddress(text)).toBeUndefined();
    expect(parseTypedEmail(text)).toBeUndefined();
    expect(whyNotAnEmail(text)).toBe("email");
  });

  it.each(["jörg@example.com", "用户@例え。jp", "δοκιμή@example.com", "o'brién..x@münchen.de"])(
    "is not %s, whose letters only SMTPUTF8 carries",
    (text) => {
      expect(parseEmailAddress(text)).toBeUndefined();
      expect(parseTypedEmail(text)).toBeUndefined();
      expect(whyNotAnEmail(text)).toBe("letters");
    },
  );

  it.each(["ceo@example.com.", "Ceo <ceo@example.com>", "mailto:ceo@example.com", "ceo@example. com"])(
    "is not %s, when a program sends it",
    (text) => expect(parseEmailAddress(text)).toBeUndefined(),
  );

  // A provider verified this address, and not the one that is like it.
  it.each(["ﬁ@example.com", "\u212aelvin@example.com", "ｃｅｏ@example.com"])(
    "is not that of another person, when a provider sends %s",
    (text) => expect(parseEmailAddress(text)).toBeUndefined(),
  );

  it.each([
    ["ceo.office@example.com", "ceo.office@example.com"],
    ["a..b@docomo.ne.jp", '"a..b"@docomo.ne.jp'],
    ["a.@ezweb.ne.jp", '"a."@ezweb.ne.jp'],
    [".a@docomo.ne.jp", '".a"@docomo.ne.jp'],
    ["=?utf-8?q?evil=40example.net=3e?=@example.com", '"=?utf-8?q?evil=40example.net=3e?="@example.com'],
  ])("in mail is %s as %s", (email, inMail) => {
    expect(quoteLocalPart(email)).toBe(inMail);
    expect(quoteLocalPart(inMail)).toBe(inMail);
  });
});
