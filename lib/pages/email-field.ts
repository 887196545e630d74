import { z } from "zod";

const email = z.email().max(254);

/** The email in a field, in lower case; `undefined` when it is none. */
export function readEmail(text: string): string | undefined {
  return email.safeParse(text).data?.toLowerCase();
}
