import { settings } from "@/lib/config/settings";

/** Sentences that several documents share. */

export const sessionLimits =
  "A session cannot make an assistant send, publish, deploy or charge; those steps wait for your approval in the app.";

export const noPayments =
  "No token can start a payment, over the API or MCP. Only the owner can, in the browser where they signed in.";

export const tokenSafety =
  "Send a token only over HTTPS and only to this service. Never put one into a chat, an issue or a log.";

/** Who runs this deployment. */
export function operatorInWords(): string {
  const { operatorName, operatorAddress, appUrl } = settings();
  const address = operatorAddress ? `, ${escapeMarkdown(operatorAddress)}` : "";
  const { host } = new URL(appUrl);
  return operatorName
    ? `Corner Office at ${host} is run by ${escapeMarkdown(operatorName)}${address}.`
    : `The operator of Corner Office at ${host} has not given a name here.`;
}

/** Where to ask, if the operator configured an address. */
export function supportInWords(): string {
  const { supportEmail } = settings();
  return supportEmail ? `Questions go to [${supportEmail}](mailto:${supportEmail}).` : "";
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<]/g, "\\$&");
}
