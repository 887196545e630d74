import { sql } from "kysely";
import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { ownerPages, pages } from "@/lib/http/register/pages";
import { type DueMail, dueAtOnce, mailAbout, mailToOwner, type Zone } from "@/lib/mail/kind";
import { type Facts, formatInstant, linkTo } from "@/lib/mail/mail-content";

/*
 * A mail 7 days before the last date of apps, used or not. The rows of their sessions say when it is due, so anything that
 * ends a session or moves its last date takes the mail with it. Apps that come due within a day share a mail.
 */

const lastDate = sql<number>`last_date_ms`; // which every app has

export const appEndLeadMs = 7 * dayMs;

/** The apps whose last dates are from `firstMs` to `lastMs`. */
const ending = z.object({ accountId: z.string(), firstMs: z.int(), lastMs: z.int() });
type Ending = z.infer<typeof ending>;

/** Of an app, what was verified of it is told apart from its name, which is its own words. */
const app = z.object({ to: z.string(), name: z.string(), origin: z.string().nullish(), atMs: z.int() });
type App = Omit<z.infer<typeof app>, "to">;

const example = { name: "Claude Code", origin: "a program on a computer" };

export const appMails = {
  /** An app that the owner has approved. */
  "new app": mailToOwner(app, {
    examples: (atMs) => ({ "new-app": { ...example, atMs } }),
    text: (app, zone) => ({
      subject: "An app was connected to your account",
      preview: previewOf(app, zone),
      body: [
        {
          facts: {
            ...claimsOf(app),
            Approved: formatInstant(app.atMs, zone),
            "It can": "see whether your plan is active, and your credits",
            "It can’t": "approve or buy anything for you",
            Cost: "Nothing",
          },
        },
        "If you approved it, you have nothing to do. If you didn’t, end its access now: someone else may be signed in as you.",
        linkTo(ownerPages.access, "End its access", "danger"),
      ],
    }),
  }),
  /** An app whose session ended because one of its refresh tokens was used a second time. */
  "replayed app": mailToOwner(app, {
    examples: (atMs) => ({ "replayed-app": { name: "Claude", origin: "claude.ai", atMs } }),
    text: (app, zone) => ({
      subject: "An app was disconnected: someone may have copied its access",
      preview: previewOf(app, zone),
      body: [
        "Its access was used in two places, so someone else may have a copy. We disconnected the app: no copy works now.",
        {
          facts: {
            ...claimsOf(app),
            Disconnected: formatInstant(app.atMs, zone),
            "A copy showed": "whether your plan is active, and your credits; nothing else",
            Cost: "Nothing",
          },
        },
        "If you still use the app, connect it again. If this happens again, the computer that it runs on may not be yours alone.",
        linkTo(pages.connectApp, "Connect it again", "optional"),
      ],
    }),
  }),
  /** An app whose tokens are renewed from several networks in turn, once for each approval. */
  "app in turn": mailToOwner(app, {
    examples: (atMs) => ({ "app-in-turn": { ...example, atMs } }),
    text: (app, zone) => ({
      subject: "An app of yours is used from several places",
      preview: previewOf(app, zone),
      body: [
        "A connected app goes back and forth between networks.",
        { facts: { ...claimsOf(app), "Last on": formatInstant(app.atMs, zone) } },
        "That is usual for a phone or a laptop on the move, a VPN, and an agent in a data centre. You then have nothing to do, and we won’t write about this app again.",
        "If it runs in one place, someone may have copied its access: look at its networks, disconnect it, and connect it again. No copy works then.",
        linkTo(ownerPages.access, "See its networks", "optional"),
      ],
    }),
  }),
  /** Before the last date of apps. Its link is the page of apps: a mail carries no secret that keeps them. */
  "app ending": mailAbout(ending, {
    isScheduled: true,
    takeDue,
    find: findApps,
    examples(atMs) {
      const one = { ...example, endsAtMs: atMs + 7 * dayMs };
      const other = { name: "Weekly reports", origin: "reports.example", endsAtMs: atMs + 7.5 * dayMs };
      return { "app-end": { apps: [one] }, "apps-end": { apps: [one, other] } };
    },
    text({ apps }, zone) {
      const isOne = apps.length === 1;
      const keep = isOne ? "Keep the app" : "Keep the apps";
      return {
        subject: `${isOne ? "An app loses" : `${apps.length} apps lose`} access to your account soon`,
        preview: `${keep} with one button, or do nothing.`,
        body: [
          ...apps.map((app) => ({
            facts: { ...claimsOf(app), "Loses access": formatInstant(app.endsAtMs, zone) },
          })),
          {
            facts: {
              "If you keep it": `Another ${sessionDays.app} days, for all your apps`,
              "If you don’t": `Disconnected then; connect ${isOne ? "it" : "them"} again at any time`,
              Cost: "Nothing, either way",
            },
          },
          linkTo(ownerPages.access, keep, "optional"),
        ],
        footer: [
          `You received this email because you connected ${isOne ? "this app" : "these apps"}. You can switch these emails off under Account.`,
        ],
      };
    },
  }),
};

/** Marks the apps that are due, and those of the same owners that are soon. */
async function takeDue(transaction: Db, nowMs: number): Promise<DueMail<Ending>[]> {
  const owners = await transaction
    .selectFrom("local_sessions")
    .select("account_id")
    .distinct()
    .where("end_mail_at_ms", "<=", nowMs)
    .where("expires_at_ms", ">", nowMs)
    .orderBy("account_id")
    .limit(dueAtOnce)
    .execute();
  const mails: DueMail<Ending>[] = [];
  for (const { account_id: accountId } of owners) {
    const apps = await transaction
      .updateTable("local_sessions")
      .set({ end_mail_at_ms: null })
      .where("account_id", "=", accountId)
      .where("end_mail_at_ms", "<=", nowMs + dayMs)
      .where("expires_at_ms", ">", nowMs)
      .returning(lastDate.as("endsAtMs"))
      .execute();
    if (apps.length === 0) continue; // another process was first
    const dates = apps.map(({ endsAtMs }) => endsAtMs);
    const [firstMs, lastMs] = [Math.min(...dates), Math.max(...dates)];
    const about = `app-end:v2:${accountId}:${firstMs}`;
    mails.push({ mail: { accountId, firstMs, lastMs }, about, untilMs: lastMs });
  }
  return mails;
}

/** The owner, with the apps that still have one of its dates; `undefined` if there is none. */
async function findApps(db: Db, mail: Ending, nowMs: number) {
  const sessions = await db
    .selectFrom("local_sessions")
    .innerJoin("accounts", "accounts.id", "account_id")
    .select(["email", "name", "app_origin", lastDate.as("endsAtMs")])
    .where("account_id", "=", mail.accountId)
    .where("kind", "=", "app")
    .where("expires_at_ms", ">", nowMs)
    .where("app_end_mails_stopped_at_ms", "is", null)
    .where(lastDate, ">=", mail.firstMs)
    .where(lastDate, "<=", mail.lastMs)
    .orderBy(lastDate)
    .execute();
  const [owner] = sessions;
  const apps = sessions.map(({ name, app_origin: origin, endsAtMs }) => ({
    name: name ?? "An app",
    origin,
    endsAtMs,
  }));
  return owner && { to: owner.email, apps };
}

/** A site was verified by its host; of anything else only the kind is known, which is several words. */
const claimsOf = ({ name, origin }: Pick<App, "name" | "origin">): Facts => ({
  "It calls itself": `“${name}”`,
  ...(origin && (origin.includes(" ") ? { Kind: `${origin}; we can’t verify which` } : { Verified: origin })),
});

const previewOf = ({ name, atMs }: App, zone: Zone) => `“${name}”, on ${formatInstant(atMs, zone)}`;
