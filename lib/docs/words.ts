import { creditUse } from "@/lib/accounts/credits/credit-use";
import { nameOperator } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";

/** Sentences that several documents share. */

export const sessionLimits =
  "A session cannot make an assistant send, publish, deploy or charge; those steps wait for your approval in the app.";

export const noPayments =
  "No token can start a payment, over the API or MCP. Only the owner can, in the browser where they signed in.";

export const tokenSafety =
  "Send a token only over HTTPS and only to this service. Never put one into a chat, an issue or a log.";

/** Who runs this deployment, in Markdown. */
export const operatorInWords = () => asWritten(nameOperator());

/** What credits buy, in Markdown. */
export const creditUseInWords = () => asWritten(creditUse());

/** What the operator wrote, as text of which nothing is Markdown. */
const asWritten = (text: string) => text.replace(/[\\`*_[\]<]/g, "\\$&");

/** Where to ask, if the operator configured an address. */
export function supportInWords(): string {
  const { supportEmail } = settings();
  return supportEmail ? `Questions go to [${supportEmail}](mailto:${supportEmail}).` : "";
}
