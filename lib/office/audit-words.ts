/* The audit as sentences: who did what, before whom or what it was done to. */

/** Who acts, where the audit's own word for it is no name. */
const actors: Readonly<Record<string, string>> = {
  app: "An app",
  clerk: "Clerk",
  invitation: "An invitation’s link",
  "mail link": "A mail’s link",
  owner: "The owner",
  resend: "Resend",
  service: "The service",
  stripe: "Stripe",
  "unsubscribe link": "A link in a mail",
  visitor: "A visitor",
};

/** Who acts, as a sentence begins: `Operator ann`. */
export const actorInWords = (who: string) => actors[who] ?? who.charAt(0).toUpperCase() + who.slice(1);

/** What was done, by its kind in the audit. */
export const kindsInWords: Readonly<Record<string, string>> = {
  "account add": "opened an account for",
  "account delete": "deleted the account of",
  "account leave": "asked that everything be erased about",
  "account open": "opened the account of",
  "account reference": "set the reference of",
  "account set": "changed what is given to",
  "account stay": "kept the account of",
  "app approve": "approved an app for",
  "app begin": "connected to the account of",
  "app decline": "declined an app for",
  "app keep": "kept all apps of",
  "app end": "ended its access to the account of",
  "app mails off": "turned mails about apps off for",
  "app mails on": "turned mails about apps on for",
  "app replay": "used a copied token of",
  "automatic purchase": "changed the automatic purchase of",
  "backend add": "added the backend",
  "backend remove": "removed the backend",
  "backend rotate": "gave a new key to the backend",
  backup: "made a backup",
  "banner clear": "removed the banner",
  "banner set": "published a banner",
  confirm: "proved who they are, as",
  "connect add": "registered the app",
  "connect remove": "removed the app",
  "credit limits": "changed the limits of credits of",
  "credits add": "changed the credits of",
  "credits not taken back": "could not take back all credits of",
  "customer deleted": "deleted the customer at Stripe",
  "email change asked": "asked to change the email of",
  "email change confirmed": "confirmed a change of the email of",
  "email change stopped": "stopped a change of the email of",
  "end of what was given": "ended what was given to",
  "invitation withdrawn": "withdrew the invitation of",
  invite: "invited",
  "keys make": "made the first signing key",
  "keys revoke": "revoked a signing key",
  "keys rotate": "made a new signing key",
  "keys seal anew": "encrypted the signing keys again",
  "licence ended": "ended the licence of",
  "mails retry": "sent failed mails again",
  "mails stop": "stopped the mails to",
  "mails taken as sent": "took mails as sent",
  "operator add": "made a link for the operator",
  "operator end": "ended the sessions of the operator",
  "operator passkey": "added a passkey of the operator",
  "operator remove": "removed the operator",
  "operator sign-in": "signed in as the operator",
  "operator sign-out": "signed out as the operator",
  "passkey add": "added a passkey of",
  "passkey decline": "declined the offer of a passkey for",
  "passkey refused": "was refused with a copied passkey of",
  "passkey remove": "removed a passkey of",
  "passkey rename": "renamed a passkey of",
  "person erase": "erased the person",
  "person export": "exported all data about",
  "plan of a price": "set the plan that a price buys, for",
  "plan set": "changed the plan",
  "purchase without account": "reported a purchase without an account:",
  restore: "restored a backup",
  retention: "deleted expired data",
  "second subscription": "reported a second subscription of",
  "session end": "ended access to the account of",
  "session limit": "ended the oldest of too many sessions of",
  "sign in": "signed in as",
  "sign out": "signed out as",
  "subscription for another price": "reported a subscription for a price that is not sold here:",
  "time zone": "changed the time zone of",
  token: "made a token for",
  "user barred": "banned the user",
  "user delete": "deleted the user",
  "user update": "changed the user",
  "waitlist remove": "took off the waitlist",
  "webhook add": "added the webhook",
  "webhook remove": "removed the webhook",
  "webhook reseal": "encrypted the webhook’s secret again:",
  "webhook resend": "sent events again to the webhook",
  "webhook rotate": "made a new secret for the webhook",
  "webhook start": "started the webhook again:",
};

/**
 * What was done, as a sentence goes on, which ends with whom it was done to unless its reader knows that. A kind that has no
 * words here stands as it is.
 */
export function kindInWords(what: string, namesWhom: boolean): string {
  const [, status] = /^subscription (\w+)$/.exec(what) ?? [];
  const words = status
    ? `reported “${status.replaceAll("_", " ")}” of the subscription of`
    : (kindsInWords[what] ?? `did “${what}” for`);
  return namesWhom ? words : words.replace(/,? (?:of|for|to|as|about)$|:$/, "");
}
