import { domainToASCII } from "node:url";

// In quotes or not: dots and atext (RFC 5322 §3.2.3), and a domain.
const plain = /^("?)([\w.!#$%&'*+/=?^`{|}~-]+)\1@([a-z\d][a-z\d-]*(?:\.[a-z\d][a-z\d-]*)*)$/i;
const maxCharacters = 254; // RFC 5321 §4.5.3.1.3, without its angle brackets

/**
 * Parses an email address to lower case, its domain to ASCII (RFC 5890 §2.3.2.1); `undefined` if the text is not one. This
 * accepts what an email field of a browser does (WHATWG HTML §4.10.5.1.5), also in the quotes with which mail has
 * addresses like `a..b@docomo.ne.jp`. No address has a character that a header of mail would read as its own.
 */
export function parseEmailAddress(text: string): string | undefined {
  return parseCased(text)?.toLowerCase();
}

/** The same for a text that a person typed or pasted: full-width, or among characters that are not seen. */
export function parseTypedEmail(text: string): string | undefined {
  return parseEmailAddress(straighten(text));
}

/** Parses an email address and keeps its capitals, for the operator's own address. */
export function parseCased(text: string): string | undefined {
  const [, , local = "", domain = ""] = plain.exec(withAsciiDomain(text.trim())) ?? [];
  const address = `${local}@${domain}`;
  return domain && address.length <= maxCharacters ? address : undefined;
}

/** What people read about a text that is not an email address. */
export const notAnEmail = {
  email: "That is not an email address. Check it for typos.",
  letters:
    "Before the @ of an email, only letters from A to Z without accents, digits and signs reach everyone by mail. Use another address.",
};

/**
 * Why a typed text is not an email address: perhaps only for letters before the `@` that SMTPUTF8 alone carries (RFC 6531).
 * A relay that announces it does not know whether the next one does, and such a mail has no other way (RFC 6530 §9).
 */
export function whyNotAnEmail(text: string): keyof typeof notAnEmail {
  const typed = straighten(text);
  const local = typed.slice(0, typed.lastIndexOf("@"));
  const folded = local.replace(/[\p{L}\p{M}\p{N}]/gu, "x") + typed.slice(local.length);
  return folded !== typed && parseEmailAddress(folded) ? "letters" : "email";
}

/**
 * An address as mail has it: in quotes where what is before the `@` is not a dot-atom (RFC 5321 §4.1.2), or could be decoded
 * (RFC 2047 §5).
 */
export function quoteLocalPart(email: string): string {
  const [, local = "", domain = ""] = /^([^"]*)@(.*)$/.exec(email) ?? [];
  const isDotAtom = !/^\.|\.\.|\.$|=\?/.test(local);
  return isDotAtom ? email : `"${local}"@${domain}`;
}

/**
 * Makes full-width characters narrow, and removes characters that are not seen, except joiners, which are part of some domains.
 * Then it removes what comes with an address: a dot that a keyboard makes of two blanks, or a sign that ended a sentence or an
 * entry of a list; the name and the quotes that a mail program copies, where the name may be the address again; and the blank
 * that a keyboard puts after a dot.
 */
const straighten = (text: string) =>
  text
    .normalize("NFKC")
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .trim()
    .replace(/[.,;]$/, "")
    .replace(/^(?:mailto:|[^<>@]*<([^<>]*)>$)/i, "$1")
    .replace(/^(['"]?)([^<>]+)\1(?: <\2>)?$/i, "$2")
    .replace(/([.@]) /g, "$1");

/** Converts only what IDNA is about: the function of the URL Standard would end the domain at a slash, or read a port. */
function withAsciiDomain(text: string): string {
  const at = text.lastIndexOf("@") + 1;
  const domain = text.slice(at);
  const isForIdna = /[^\p{ASCII}]/u.test(domain) && !/[^\P{ASCII}\w.-]/u.test(domain);
  return isForIdna ? text.slice(0, at) + domainToASCII(domain) : text;
}
