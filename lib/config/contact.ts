import { settings } from "@/lib/config/settings";

/** Whom to ask, in the middle of a sentence: our address or, where there is none, the person who invited. */
export function askUs(): string {
  const { supportEmail } = settings();
  return supportEmail ? `write to ${supportEmail}` : "ask the person who invited you";
}
