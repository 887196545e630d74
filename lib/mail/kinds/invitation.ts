import * as z from "zod";
import { confirmationDays, invitationDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { type MailKind, mailTo } from "@/lib/mail/kind";
import {
  findInvitationProblem,
  hasOpenInvitation,
  mailedInvitationUrl,
} from "@/lib/mail/links/invitation-token";
import { SendError } from "@/lib/mail/mail";
import { createClerkInvitation } from "@/lib/mail/senders/clerk-invitations";
import { confirmationUrl, replaceConfirmation } from "@/lib/mail/waitlist-confirmation";

const invitation = z.object({
  to: z.string(),
  token: z.string(),
  isOnWaitlist: z.boolean().default(false),
  /** The days of its trial, if it is to one of so many. */
  trialDays: z.int().optional(),
});

const clerks = z.object({ to: z.string() });

/** Clerk mails this one itself: it is queued where Clerk has taken enough for an hour. */
const clerkInvitation: MailKind<z.infer<typeof clerks>> = {
  fields: clerks,
  address: async (db, { to }, nowMs) =>
    (await hasOpenInvitation(db, to, nowMs)) ? { to, send: () => tryInviting(to) } : undefined,
  examples: () => ({}),
};

export const invitationMails = {
  invitation: mailTo(invitation, {
    isWanted: async (db, { token }, nowMs) => !(await findInvitationProblem(db, token, nowMs)),
    examples: () => ({
      invitation: { token: "preview", isOnWaitlist: false, trialDays: 14 },
      "invitation-waitlist": { token: "preview", isOnWaitlist: true, trialDays: 14 },
    }),
    text({ token, isOnWaitlist, trialDays }) {
      const inviter = settings().operatorName ?? "The people who run Corner Office";
      return {
        subject: "Your invitation to Corner Office",
        preview: "Your place is ready, and you need no card.",
        body: [
          isOnWaitlist
            ? "You joined our waitlist, and your place in Corner Office is ready."
            : `${inviter} invited you, and your place in Corner Office is ready.`,
          "You run a company of AI assistants: they work in your own apps, and nothing is sent, published, deployed or charged until you approve it there.",
          {
            facts: {
              "The link works": `Once, only for this email, for ${invitationDays} days`,
              Cost: trialDays
                ? `Nothing. ${trialDays} days free, no card, and nothing is charged after them unless you choose a plan`
                : "Nothing, and no card. Nothing is charged unless you buy it",
            },
          },
          { label: "Open your account", url: mailedInvitationUrl(token) },
        ],
        footer: [
          isOnWaitlist
            ? "You received this email because this address joined our waitlist. If that wasn’t you, ignore it."
            : `You received this email because ${inviter.replace("The people", "the people")} invited you. If that was a mistake, ignore it.`,
        ],
      };
    },
  }),
  "clerk invitation": clerkInvitation,
  /** Asks whether an email on the waitlist is its reader's. */
  waitlist: mailTo(z.object({ to: z.string(), token: z.string() }), {
    isWanted: replaceConfirmation,
    examples: () => ({ waitlist: { token: "preview" } }),
    text: ({ token }) => ({
      subject: "Confirm your place on the waitlist",
      preview: "So that we know this address is yours.",
      body: [
        "Confirm that this address is yours, and we email you once more: when your place is ready.",
        {
          facts: {
            "The link works": `For ${confirmationDays} days; an address that is not confirmed by then leaves the waitlist`,
            Cost: "Nothing",
          },
        },
        { label: "Confirm my address", url: confirmationUrl(token) },
      ],
      footer: [
        "If you didn’t join, ignore this email, and the address leaves the waitlist. We send it at most one email like this a week.",
      ],
    }),
  }),
};

const tryInviting = (email: string) =>
  createClerkInvitation(email).then(
    () => undefined,
    ({ message }: Error) => new SendError(message, { mayRetry: true }),
  );
