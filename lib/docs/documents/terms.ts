import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { to } from "@/lib/docs/markdown";
import { operatorInWords, sessionLimits, supportInWords, tokenSafety } from "@/lib/docs/words";
import { files } from "@/lib/http/register/files";
import { pages } from "@/lib/http/register/pages";
import { minNoticeDays } from "@/lib/http/retirement";

export const terms: DocumentText = {
  title: "Terms",
  summary: "What this service does, what it costs, what it asks of you, and how it changes.",
  markdown: () => {
    const { termsUrl } = settings();
    return termsUrl ? `${operatorInWords()} The terms are at <${termsUrl}>.\n` : ownText();
  },
};

const ownText = () => `${operatorInWords()} ${supportInWords()}

This is what the software does. A contract with the operator comes before them.

## The service

Corner Office tells your apps whether your company of AI assistants may run, and how many credits it has. The assistants run in your own apps, not here. ${sessionLimits}

## Your account

An account belongs to one person, by invitation. You sign in with its email, so keep your mailbox to yourself. ${tokenSafety} You answer for the apps that you approve, and can disconnect them at any time.

Requests are [limited](${to.limits}). Do not try to get around the limits, or to reach other people's accounts.

## Price

${price()}

## Changes and outages

A version or an operation of the API is retired at least ${minNoticeDays} days after the [announcement](${to.policy}). Urgent security fixes may restrict unsafe behaviour at once. The [status page](${pages.status.path}) says what works now. No level of availability is promised.

## End

You can stop at any time: delete your account, as [Privacy](${to.privacy}) describes. A running plan ends with it. ${settings().billing?.refunds ?? "Nothing is refunded here."} The operator can end an account.

## Software

The software ${source()}under the [MIT licence](${files.licence.path}), without warranty of any kind.
`;

/** What an account costs. Nothing is charged through this service. */
function price(): string {
  if (settings().billing)
    return "A trial and the hobby plan cost nothing. Your billing page and the checkout show the price and the period of each plan and of credits before you pay; Stripe takes the payment and sends the receipt.";
  return "This service takes no payments. A trial and the hobby plan cost nothing; the operator tells you what a paid plan and credits cost before you agree.";
}

/** Open source is what anyone can read: it is said where the operator names the address. */
function source(): string {
  const { sourceUrl } = settings();
  return sourceUrl ? `is [open source](${sourceUrl}), ` : "comes ";
}
