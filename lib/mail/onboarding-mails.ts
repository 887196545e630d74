import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/pages";
import type { Mail } from "@/lib/mail/mail";
import { type Block, type MailContent, renderHtml, renderText } from "@/lib/mail/mail-content";
import { type OnboardingKind, onboardingDays, onboardingSeries } from "@/lib/mail/onboarding-series";
import { unsubscribePageUrl, unsubscribeUrl } from "@/lib/mail/unsubscribe-token";

/**
 * An onboarding mail to an account, but for its id and its recipient. The same for every attempt: a sender that knows
 * the id compares the rest.
 */
export function renderOnboarding(kind: OnboardingKind, accountId: string): Omit<Mail, "id" | "to"> {
  const { appUrl, supportEmail } = settings();
  const { subject, preview, body } = letters[kind](appUrl);
  const letter: MailContent = {
    subject,
    preview,
    body,
    footer: footerOf(unsubscribePageUrl(accountId), supportEmail),
  };
  return {
    subject,
    text: renderText(letter),
    html: renderHtml(letter),
    headers: {
      // RFC 8058 §3.1: the second field makes a POST of the first's https address one click. Mail programs that know
      // RFC 2369 alone write to a person instead.
      "List-Unsubscribe": [
        `<${unsubscribeUrl(accountId)}>`,
        ...(supportEmail ? [`<mailto:${supportEmail}?subject=Stop%20the%20onboarding%20emails>`] : []),
      ].join(", "),
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      // RFC 3834 §5: nobody's holiday notice needs to answer this.
      "Auto-Submitted": "auto-generated",
    },
  };
}

function footerOf(stopUrl: string, supportEmail: string | undefined): Block[] {
  return [
    `You get these ${onboardingSeries.length} mails, over your first ${onboardingDays} days, because you accepted an invitation to Corner Office.`,
    { label: "Stop the rest of them", url: stopUrl },
    ...(supportEmail ? [`A person reads ${supportEmail}: an answer to this mail goes there.`] : []),
  ];
}

const letters: Record<OnboardingKind, (appUrl: string) => Omit<MailContent, "footer">> = {
  welcome: (appUrl) => ({
    subject: "Welcome to your corner office",
    preview: "You are the CEO now. Your first ten minutes, in three steps.",
    body: [
      "You are the CEO now. Your company is made of AI assistants that work in your own apps, and of one person who decides: you. Nothing is sent, published, deployed or charged before you approve it there.",
      "Your first ten minutes:",
      {
        steps: [
          "Sign in with the address that this mail came to.",
          "Look at your home page: it says whether your company may run, how many assistants you may hire, and what credits you have.",
          "Connect the app that your assistants work in. It asks us whether the company may run, and tells you when it may not, and why.",
        ],
      },
      { label: "Open your home page", url: `${appUrl}${pages.home.path}` },
      "Next: how to hire a first assistant that you keep.",
    ],
  }),
  "first-assistant": (appUrl) => ({
    subject: "Hire one assistant, for one job",
    preview: "Which job to give away first, and how to brief for it.",
    body: [
      "Start with a single assistant. Choose a job that comes back every week, that you know well, and whose result you can judge in five minutes: sorting an inbox, a weekly summary, first drafts of answers.",
      "Then brief it as you would brief a new colleague:",
      {
        points: [
          "What done looks like, with one good example from last week.",
          "What it may read, and what it is to leave alone.",
          "When it is to stop and ask you. Early on, more often than seems necessary.",
        ],
      },
      "After a week, decide: keep it as it is, change the brief, or let it go. A second assistant comes more easily once the first one needs no watching. How many you may hire is on your home page.",
      { label: "See how many you may hire", url: `${appUrl}${pages.home.path}` },
    ],
  }),
  approvals: (appUrl) => ({
    subject: "What waits for your word",
    preview: "Four kinds of step that no assistant takes alone, and how to approve them well.",
    body: [
      "Assistants prepare. You decide. Four kinds of step wait for your approval in the app, always: sending, publishing, deploying and charging. No session and no token can take them for you, ours included: what our API offers only reads, or stops mail.",
      "What makes approving quick without making it careless:",
      {
        points: [
          "Do it at fixed times, twice a day, rather than at every nudge.",
          "Look at the thing itself, not at the summary of it: the mail as it will go out, the page as it will stand.",
          "When you say no, say why in a sentence. That sentence belongs in the brief.",
          "Keep session tokens out of chats, issues and logs. Whoever holds one can read what your account may do.",
        ],
      },
      { label: "How sessions and tokens work", url: `${appUrl}${pages.authentication.path}` },
    ],
  }),
  credits: (appUrl) => ({
    subject: "Your credits, and what they tell you",
    preview: "Where to see them, what uses them up, and how to notice early.",
    body: [
      "Credits count the work that your assistants do. They are a count and never money, and your balance never goes below zero.",
      "It takes two minutes a week to stay ahead of them:",
      {
        steps: [
          "Look at the balance on your home page on the same day each week, and write it down once.",
          "If it fell faster than the week before, ask which assistant worked more, and whether that was worth it.",
          "If an assistant repeats itself, shorten its brief before you give it more to do.",
        ],
      },
      "Your apps can read the balance too, and warn you on their own. When a trial ends they are told so the next time they ask, and your assistants pause.",
      { label: "See your balance", url: `${appUrl}${pages.home.path}` },
    ],
  }),
  "next-steps": (appUrl) => ({
    subject: "Your first weeks: what now?",
    preview: "A review in three questions, and where to go from here.",
    body: [
      "This is a good moment to look at your company as an owner would. Three questions are enough:",
      {
        steps: [
          "Which job have you not thought about for a week? That assistant is ready for a larger one.",
          "Which approvals have you never refused? Brief for more in one go, so that there are fewer of them.",
          "What do you still do every Monday by hand? That is the next job to give away.",
        ],
      },
      "If you like to build: any program of yours can ask whether the company may run and what credits it has, and so can any assistant that speaks MCP.",
      { label: "The API, with examples", url: `${appUrl}${pages.apiReference.path}` },
      { label: "Connect an assistant by MCP", url: `${appUrl}${pages.mcp.path}` },
      "This is the last mail of the series. From here on it is your company.",
    ],
  }),
};
