import * as z from "zod";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { pages } from "@/lib/http/register/pages";
import type { MailKind } from "@/lib/mail/kind";
import { findLinkKey } from "@/lib/mail/links/link-keys";
import { unsubscribeUrl } from "@/lib/mail/links/unsubscribe-token";
import { linkTo, type MailContent, renderMail, whatGoesOn } from "@/lib/mail/mail-content";

/*
 * The onboarding series, in order. The rows of its mails are written when an account is created, and only these mails can
 * be stopped by their reader (`outbox/onboarding-outbox.ts`, `unsubscribe.ts`).
 */

type SeriesMail = {
  /** How many days after its account is created it is due. */
  afterDays: number;
  /** @param isConnected - whether the account had an app when the mail was first tried */
  text: (isConnected: boolean) => Omit<MailContent, "footer" | "headers">;
};

/** A mail about work in apps: someone without one is told that first, and its one button leads there. */
const aboutWork = (
  isConnected: boolean,
  button: MailContent["body"][number],
  body: MailContent["body"],
): MailContent["body"] =>
  isConnected
    ? [...body, button]
    : [
        "No app is connected to your account yet, and assistants work in your apps. Connecting one takes a minute.",
        linkTo(pages.connectApp, "Connect an app"),
        ...body,
      ];

const series = {
  welcome: {
    afterDays: 0,
    text: (isConnected) => ({
      subject: "Welcome to your corner office",
      preview: "You are the CEO now. Your first ten minutes, in three steps.",
      body: [
        "You are the CEO now. Your AI assistants work in your own apps, and you decide: nothing is sent, published, deployed or charged until you approve it there.",
        "Your first ten minutes:",
        {
          steps: [
            "Sign in with the address that received this email.",
            "Open your home page. It shows whether your assistants may run, and your next step.",
            isConnected
              ? "Ask the app that you have connected whether your assistants may run."
              : "Connect one app, for example Claude Code: one line under “Access”.",
          ],
        },
        { facts: { Cost: "Nothing. Your account and connecting apps are free" } },
        linkTo(pages.home, "Open your home page"),
        "In the next email: your first assistant’s job.",
      ],
    }),
  },
  "first-assistant": {
    afterDays: 1,
    text: (isConnected) => ({
      subject: "Hire one assistant for one job",
      preview: "Which job to delegate first, and how to brief for it.",
      body: aboutWork(isConnected, linkTo(pages.billing, "See how many you can hire", "optional"), [
        "Start with one assistant, and a weekly job that you know well and can judge in five minutes: sorting an inbox, a summary, first drafts of replies.",
        "Then brief it as you would brief a new colleague:",
        {
          points: [
            "Show a finished job: one good example from last week.",
            "Say what it may read, and what it must leave alone.",
            "Say when it must stop and ask you: at first, more often than seems necessary.",
          ],
        },
        "After a week, keep it, change the brief, or let it go. Hire a second one once the first needs no supervision.",
        { facts: { Cost: "Nothing more: a plan includes its assistants, and their work uses your credits" } },
      ]),
    }),
  },
  approvals: {
    afterDays: 4,
    text: (isConnected) => ({
      subject: "Nothing leaves without your approval",
      preview: "Four kinds of step always wait for you. How to approve them quickly and carefully.",
      body: aboutWork(
        isConnected,
        {
          label: "Read what apps can do",
          url: `${settings().appUrl}${pages.authentication.path}`,
          is: "optional",
        },
        [
          "Your assistants prepare, and you decide. Four kinds of step always wait for your approval in the app: sending, publishing, deploying and charging. No app can approve them for you, and neither can we: an app only sees your plan and credits.",
          "How to approve quickly without being careless:",
          {
            points: [
              "Do it twice a day, at fixed times, not at every notification.",
              "Check the thing itself, not a summary: the email as it will be sent, the page as it will appear.",
              "When you say no, say why in one sentence, and add it to the brief.",
              "Keep access keys out of chats, issues and logs. Anyone who has one can read your account.",
            ],
          },
          { facts: { Cost: "Nothing. Approving is free, and nothing is charged without it" } },
        ],
      ),
    }),
  },
  credits: {
    afterDays: 8,
    text: (isConnected) => ({
      subject: "Your credits, and what they tell you",
      preview: "Where to see them, what uses them up, and how to notice early.",
      body: aboutWork(isConnected, linkTo(pages.billing, "See your balance", "optional"), [
        "Credits measure the work of your assistants. They are a count, never money, and your balance never goes below zero.",
        "Two minutes a week are enough to keep track:",
        {
          steps: [
            "Open your billing page. It shows what each of the last 30 days used.",
            "If it was more than the week before, find out which assistant worked more, and whether that was worth it.",
            "If an assistant repeats itself, shorten its brief before you give it more to do.",
          ],
        },
        "Your apps can read the balance too, and warn you.",
        { facts: { Cost: "Nothing. Credits are bought only when you say so" } },
      ]),
    }),
  },
  "next-steps": {
    afterDays: 13,
    text: (isConnected) => ({
      subject: "Your first two weeks: what’s next?",
      preview: "A review in three questions, and where to go from here.",
      body: aboutWork(isConnected, linkTo(pages.home, "Open your home page", "optional"), [
        "Three questions are enough to review your company:",
        {
          steps: [
            "Which job have you not thought about for a week? That assistant is ready for a larger one.",
            "Which approvals have you never refused? Brief for larger steps, so that you approve less often.",
            "What do you still do by hand every Monday? Delegate that next.",
          ],
        },
        { facts: { Cost: "Nothing more than your plan" } },
        "This is the last email of the series. The company is yours.",
      ]),
    }),
  },
} satisfies Record<string, SeriesMail>;

export type OnboardingKind = keyof typeof series;
export const onboardingKinds = Object.keys(series) as OnboardingKind[];

/** The length of the series in days. */
export const onboardingDays = Math.max(...Object.values(series).map(({ afterDays }) => afterDays));

const fields = z.object({ accountId: z.string(), firstTriedAtMs: z.int() });
type Queued = z.infer<typeof fields>;
type Reader = { accountId: string; linkKey: Buffer; isConnected: boolean };

/** The content of a mail. Every attempt has the same, because Resend compares it with the first one of its id. */
export function onboardingContent(
  kind: OnboardingKind,
  { accountId, linkKey, isConnected }: Reader,
): MailContent {
  const { supportEmail, operatorName, operatorAddress } = settings();
  return {
    ...series[kind].text(isConnected),
    footer: [
      `You receive these ${onboardingKinds.length} emails over your first ${onboardingDays} days because you accepted an invitation to Corner Office.`,
      { label: "Unsubscribe", url: unsubscribeUrl(linkKey, accountId, pages.unsubscribe) },
      `${whatGoesOn()}.`,
      ...(supportEmail
        ? [`Questions? Just reply, or write to ${supportEmail}. A person reads every email.`]
        : []),
      ...(operatorAddress ? [[operatorName, operatorAddress].filter(Boolean).join(", ")] : []),
    ],
    headers: {
      // Mail clients POST to the https URL (RFC 8058 §3.1); those that only know RFC 2369 can write to the address.
      "List-Unsubscribe": [
        `<${unsubscribeUrl(linkKey, accountId)}>`,
        ...(supportEmail ? [`<mailto:${supportEmail}?subject=Unsubscribe>`] : []),
      ].join(", "),
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  };
}

/** Its reader; `undefined` once the account is deleted or its trial has ended. */
async function findReader(db: Db, { accountId, firstTriedAtMs }: Queued, nowMs: number) {
  const account = await accountBy(db, "id", accountId)
    .select(["email", "plan", "trial_ends_at_ms"])
    .executeTakeFirst();
  if (!account) return undefined;
  const { email: to, plan, trial_ends_at_ms } = account;
  if (plan === "trial" && trial_ends_at_ms !== null && trial_ends_at_ms <= nowMs) return undefined;
  const isConnected = await hasRow(
    db
      .selectFrom("local_sessions")
      .select("id")
      .where("account_id", "=", accountId)
      .where("kind", "=", "app")
      .where("begun_at_ms", "<=", firstTriedAtMs),
  );
  return { to, accountId, isConnected, linkKey: await findLinkKey(db) };
}

const kindOf = (kind: OnboardingKind): MailKind<Queued> => ({
  fields,
  afterDays: series[kind].afterDays,
  examples() {
    const reader = { accountId: "acc_preview", linkKey: Buffer.alloc(32), isConnected: false };
    return { [kind]: onboardingContent(kind, reader) };
  },
  async address(db, mail, nowMs) {
    const reader = await findReader(db, mail, nowMs);
    return reader && { to: reader.to, render: () => renderMail(onboardingContent(kind, reader)) };
  },
});

export const onboardingMails = Object.fromEntries(
  onboardingKinds.map((kind) => [kind, kindOf(kind)]),
) as Record<OnboardingKind, MailKind<Queued>>;
