import * as z from "zod";

const emailAddress = z.email().max(254); // RFC 5321 §4.5.3.1.3, without its angle brackets

/** Parses an email address to lower case; `undefined` if the text is not one. */
export function parseEmailAddress(text: string): string | undefined {
  return emailAddress.safeParse(text).data?.toLowerCase();
}
