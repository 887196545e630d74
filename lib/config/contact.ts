import { settings } from "@/lib/config/settings";

/** Whom to ask, in the middle of a sentence: our address or, where there is none, the person who invited. */
export function askUs(): string {
  const { supportEmail } = settings();
  return supportEmail ? `write to ${supportEmail}` : "ask the person who invited you";
}

/** Who runs this deployment. */
export function nameOperator(): string {
  const { appUrl, operatorName, operatorAddress } = settings();
  const { host } = new URL(appUrl);
  return operatorName
    ? `Corner Office at ${host} is run by ${[operatorName, operatorAddress].filter(Boolean).join(", ")}.`
    : `Corner Office at ${host} is run by the people who send its invitations.`;
}
