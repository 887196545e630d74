import type * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import { type MailContent, renderMail } from "@/lib/mail/mail-content";
import type { WantedMail } from "@/lib/mail/outbox/outbox-runner";
import type { ReadPrice } from "@/lib/mail/prices";

/** A mail that a date has made due, until when it is tried, and what its id is derived from. */
export type DueMail<Queued> = { mail: Queued; untilMs: number; about: string };

/** How long a mail is tried whose code, link or date sets no other end. */
export const triedForMs = 3 * dayMs;

/** Of each kind that dates make due, so many are queued in a transaction at most. */
export const dueAtOnce = 100;

/** A kind of mail. */
export type MailKind<Queued> = {
  /** What is queued of it. What becomes of it until it is sent is read from the store again. */
  fields: z.ZodType<Queued>;
  /**
   * Whether a date or a backend makes it due, perhaps thousands at once. These are claimed apart: no code waits behind them.
   */
  isScheduled?: true;
  /**
   * How many days after its account is created it is due: a mail of the onboarding series, which is in the outbox of these
   * and which its reader can stop.
   */
  afterDays?: number;
  /** How long it is tried, if not for {@link triedForMs}. */
  triedForMs?: number;
  /** Marks the rows whose mails a date has made due, in the transaction that queues the mails. */
  takeDue?: (transaction: Db, nowMs: number) => Promise<DueMail<Queued>[]>;
  /** Who gets it, and how it is sent; `undefined` if it is not wanted any more. Asked before each attempt. */
  address: (db: Db, mail: Queued, nowMs: number, readPrice: ReadPrice) => Promise<WantedMail | undefined>;
  /** Examples of its text, by the names that they have among the previews. */
  examples: (atMs: number) => Record<string, MailContent>;
};

/** What is said of a kind, next to who gets it: its text, and examples of what that says. */
type Described<Queued, Wanted> = Omit<MailKind<Queued>, "fields" | "address" | "examples"> & {
  examples: (atMs: number) => Record<string, Said<Wanted>>;
  text: (mail: Said<Wanted>, zone?: Zone) => MailContent;
};
type Said<Wanted> = Omit<Wanted, "to" | "timeZone">;

/** A zone by its name; nothing for UTC. */
export type Zone = string | null | undefined;

/**
 * A kind of mail whose reader, and what its text needs, is looked up when it is sent: also the reader's time zone, unless what
 * was found says it.
 */
export function mailAbout<Queued, Wanted extends { to: string; timeZone?: Zone }>(
  fields: z.ZodType<Queued>,
  {
    find,
    text,
    examples,
    ...kind
  }: Described<NoInfer<Queued>, Wanted> & {
    find: (db: Db, mail: NoInfer<Queued>, nowMs: number, readPrice: ReadPrice) => Promise<Wanted | undefined>;
  },
): MailKind<Queued> {
  return {
    ...kind,
    fields,
    examples: (atMs) =>
      Object.fromEntries(Object.entries(examples(atMs)).map(([name, said]) => [name, text(said)])),
    async address(db, mail, nowMs, readPrice) {
      const wanted = await find(db, mail, nowMs, readPrice);
      if (!wanted) return undefined;
      const { to } = wanted;
      const zone = "timeZone" in wanted ? wanted.timeZone : await findTimeZone(db, "email", to);
      return { to, render: () => renderMail(text(wanted, zone)) };
    },
  };
}

/** The time zone of an account. */
export async function findTimeZone(db: Db, by: "id" | "email", value: string): Promise<Zone> {
  return (await accountBy(db, by, value).select("time_zone").executeTakeFirst())?.time_zone;
}

/** A kind of mail that is queued with its address, and with its reader's time zone if it names an instant. */
export function mailTo<Queued extends { to: string; timeZone?: Zone }>(
  fields: z.ZodType<Queued>,
  {
    isWanted,
    ...kind
  }: Described<NoInfer<Queued>, Queued> & {
    isWanted: (db: Db, mail: NoInfer<Queued>, nowMs: number) => Promise<boolean>;
  },
): MailKind<Queued> {
  const find = async (db: Db, mail: Queued, nowMs: number): Promise<Queued | undefined> =>
    (await isWanted(db, mail, nowMs)) ? { ...mail, timeZone: mail.timeZone } : undefined;
  return mailAbout(fields, { ...kind, find });
}

/**
 * A kind of mail to the owner of an account, at the address that it was queued with or that the account has since changed it
 * to.
 */
export function mailToOwner<Queued extends { to: string }>(
  fields: z.ZodType<Queued>,
  kind: Described<NoInfer<Queued>, Queued>,
): MailKind<Queued> {
  const find = async (db: Db, mail: Queued) => {
    if (await hasOwner(db, mail)) return mail;
    const moved = await db
      .selectFrom("email_changes")
      .innerJoin("accounts", "accounts.id", "account_id")
      .select("email as to")
      .where("from_email", "=", mail.to)
      .where("changed_at_ms", "is not", null)
      .where("subject", "is not", null)
      .orderBy("changed_at_ms", "desc")
      .executeTakeFirst();
    return moved && { ...mail, ...moved };
  };
  return mailAbout(fields, { ...kind, find });
}

/** Whether someone can sign in to an account with this email. */
export async function hasOwner(db: Db, { to }: { to: string }): Promise<boolean> {
  return (await findOwner(db, to)).rows.length > 0;
}

const findOwner = frequentStatement((db, email: string) =>
  accountBy(db, "email", email).select("id").where("subject", "is not", null),
);
