import * as z from "zod";
import { hashEmail } from "@/lib/mail/suppressions";

const emailAddress = z.email().max(254); // RFC 5321 §4.5.3.1.3, without its angle brackets

/** Parses an email address to lower case; `undefined` if the text is not one. */
export function parseEmailAddress(text: string): string | undefined {
  return emailAddress.safeParse(text).data?.toLowerCase();
}

/** The hash of a mailbox: of an email without what its owner may add to it, after a plus or, at Gmail, by dots. */
export function hashMailbox(email: string): string {
  const at = email.lastIndexOf("@");
  const [local = ""] = email.slice(0, at).split("+");
  const domain = email.slice(at + 1);
  const isGmail = domain === "gmail.com" || domain === "googlemail.com";
  return hashEmail(isGmail ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`);
}
