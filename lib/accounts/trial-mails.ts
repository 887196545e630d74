import { type RawBuilder, sql } from "kysely";
import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { type Db, store } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/pages";
import { requireKeys } from "@/lib/mail/link-keys";
import { deriveMailId, type Mail, type Sender, trySending } from "@/lib/mail/mail";
import { accountMailNote, inWords, linkTo, transactionalMail } from "@/lib/mail/mail-content";
import { sendLeasedMails } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import { claimAfterOutage, recordThroughOutage } from "@/lib/mail/store-outage";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

/*
 * A mail three days before the end of a trial, and one at its end. They have no row of their own: the end in the
 * account's row says when each is due, so whatever moves the end or the plan moves or withdraws the mail, also in a build
 * that does not know these mails.
 */

const missedAfterMs = 2 * dayMs; // a mail that is later than this would only confuse
const batchSize = 20;
const minIntervalMs = 5; // at most 200 mails a second, which leaves most of the process to the API
const retryAfterMs = 15 * 60 * 1000; // 15 minutes
const maxWaitMs = 60 * 60 * 1000; // 1 hour: a longer wait was written before a clock was set back
const pollEveryMs = 60_000; // 1 minute

type TrialMail = { to: string; endsAtMs: number };

type TrialMailKind = {
  name: string;
  /** How long before the end of the trial it is due. */
  leadMs: number;
  /** Whether it is still to be sent: the condition of its partial index, in the same literal words. */
  isPending: RawBuilder<boolean>;
  render: (mail: TrialMail) => Omit<Mail, "id">;
};

/** A trial that was given fewer than three days gets only the second mail, and one that was given none gets neither. */
const trialMailKinds: TrialMailKind[] = [
  {
    name: "trial-ending",
    leadMs: 3 * dayMs,
    isPending: sql`plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)`,
    render: trialEndingMail,
  },
  {
    name: "trial-ended",
    leadMs: 0,
    isPending: sql`plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)`,
    render: trialEndedMail,
  },
];

type RunnerOptions = { signal?: AbortSignal | undefined; now?: () => number };

/** Sends every mail about the end of a trial that is due, as {@link sendLeasedMails} does. */
export async function sendTrialMails(
  db: Db,
  mailSender: Sender,
  { signal, now = Date.now }: RunnerOptions = {},
): Promise<void> {
  await requireKeys(db);
  for (const kind of trialMailKinds) {
    await sendLeasedMails(mailSender, {
      name: "a mail about a trial's end",
      batchSize,
      minIntervalMs,
      claim: (limit, leaseMs) =>
        claimAfterOutage(db, async (isSettling) =>
          isSettling ? undefined : claim(db, kind, { limit, leaseMs, nowMs: now() }),
        ),
      settle: (claimed) => settle(db, mailSender, { kind, ...claimed }, { signal, now }),
      signal,
    });
  }
}

/** Starts this process's runner, which looks once a minute. */
export function startTrialMailRunner(): BackgroundLoop {
  return startBackgroundLoop(async (signal) => sendTrialMails(await store(), sender(), { signal }), {
    pauseMs: pollEveryMs,
    failed: "the mails about the ends of trials could not be read; the runner retries shortly",
  });
}

/** An account whose mail only this runner may send, until its lease expires. */
type Claimed = { id: string; leaseUntilMs: number };

async function claim(
  db: Db,
  kind: TrialMailKind,
  { limit, leaseMs, nowMs }: { limit: number; leaseMs: number; nowMs: number },
): Promise<Claimed[] | undefined> {
  const next = due(db, kind, nowMs).where(({ or, eb }) =>
    or([
      eb("trial_mail_next_at_ms", "is", null),
      eb("trial_mail_next_at_ms", "<=", nowMs),
      eb("trial_mail_next_at_ms", ">", nowMs + maxWaitMs),
    ]),
  );
  // Checked without a lock first, because usually nothing is due.
  if (!(await next.select("id").limit(1).executeTakeFirst())) return undefined;
  const leaseUntilMs = nowMs + leaseMs;
  const leased = await db
    .with("next", () => next.select("id").orderBy("trial_ends_at_ms").limit(limit).forUpdate().skipLocked())
    .updateTable("accounts")
    .set({ trial_mail_next_at_ms: leaseUntilMs })
    .where("id", "in", (query) => query.selectFrom("next").select("id"))
    .returning("id")
    .execute();
  return leased.map(({ id }) => ({ id, leaseUntilMs }));
}

/** The accounts whose mail of this kind is due. One without a subject belongs to no one who could sign in. */
function due(db: Db, { leadMs, isPending }: TrialMailKind, nowMs: number) {
  return db
    .selectFrom("accounts")
    .where(isPending)
    .where("subject", "is not", null)
    .where("trial_ends_at_ms", "<=", nowMs + leadMs)
    .where("trial_ends_at_ms", ">", nowMs + leadMs - missedAfterMs);
}

const recipient = z.object({ email: z.string(), trial_ends_at_ms: z.int() });

/** Sends one mail if it is still due, and returns for how many milliseconds no other may start. */
async function settle(
  db: Db,
  mailSender: Sender,
  { kind, id, leaseUntilMs }: Claimed & { kind: TrialMailKind },
  { signal, now }: RunnerOptions & { now: () => number },
): Promise<number> {
  // Read after the lease is written, because an operator may extend a trial in the meantime.
  const row = await due(db, kind, now())
    .select(["email", "trial_ends_at_ms"])
    .where("id", "=", id)
    .where("trial_mail_next_at_ms", "=", leaseUntilMs)
    .executeTakeFirst();
  const release = (columns: { trial_mail_next_at_ms: number | null; trial_mail_done_ms?: number }) =>
    db
      .updateTable("accounts")
      .set(columns)
      .where("id", "=", id)
      .where("trial_mail_next_at_ms", "=", leaseUntilMs)
      .execute();
  if (!row) {
    await release({ trial_mail_next_at_ms: null });
    return 0;
  }
  const { email: to, trial_ends_at_ms: endsAtMs } = recipient.parse(row);
  const failure = await trySending(mailSender, () => ({
    id: deriveMailId(`${kind.name}:v1:${id}:${endsAtMs}`),
    ...kind.render({ to, endsAtMs }),
  }));
  if (failure) log().warn({ kind: kind.name, failure: failure.message }, "a mail about a trial was not sent");
  const columns = failure?.mayRetry
    ? { trial_mail_next_at_ms: now() + Math.min(failure.pauseMs || retryAfterMs, maxWaitMs) }
    : { trial_mail_next_at_ms: null, trial_mail_done_ms: endsAtMs - kind.leadMs };
  await recordThroughOutage(() => release(columns), signal);
  return failure?.pauseMs ?? 0;
}

/** The mail three days before the end of a trial. It names the end and no distance, because it may be sent later. */
export function trialEndingMail({ to, endsAtMs }: TrialMail): Omit<Mail, "id"> {
  const end = inWords(endsAtMs);
  return transactionalMail(to, {
    subject: `Your trial ends on ${end}`,
    heading: "Your trial ends soon",
    preview: "This is what stops then, and what to do before.",
    body: [
      `Your trial ends on ${end}.`,
      `From then on your company may not run: your apps notice at their next check, and your assistants pause. ${nothingLost}`,
      `To keep your company running, choose a plan before then. ${howToChoose()}`,
      linkTo(whereToChoose()),
    ],
    footer: [accountMailNote],
  });
}

/** The mail at the end of a trial. */
export function trialEndedMail({ to, endsAtMs }: TrialMail): Omit<Mail, "id"> {
  return transactionalMail(to, {
    subject: "Your trial has ended",
    preview: "Your assistants pause, and nothing is lost.",
    body: [
      `Your trial ended on ${inWords(endsAtMs)}.`,
      `Your company may not run now: your apps notice at their next check, and your assistants pause. ${nothingLost}`,
      `Your assistants can run again as soon as you have a plan. ${howToChoose()}`,
      linkTo(whereToChoose()),
    ],
    footer: [accountMailNote],
  });
}

const nothingLost =
  "Nothing is lost: your account and your credits stay as they are, and you can still sign in.";

const whereToChoose = () => (settings().billing ? ownerPages.billing : ownerPages.home);

function howToChoose(): string {
  const { supportEmail, billing } = settings();
  if (billing) return "You can buy one on your billing page.";
  return supportEmail ? `Just reply, or write to ${supportEmail}.` : "Contact us to choose one.";
}
