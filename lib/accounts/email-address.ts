import * as z from "zod";

const emailAddress = z.email().max(254); // RFC 5321 §4.5.3.1.3, without its angle brackets

/** An email address as we keep it, in lower case; `undefined` when the text is none. */
export function parseEmailAddress(text: string): string | undefined {
  return emailAddress.safeParse(text).data?.toLowerCase();
}
