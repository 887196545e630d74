import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { type Db, store } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/pages";
import { requireKeys } from "@/lib/mail/link-keys";
import { deriveMailId, type Mail, type Sender, trySending } from "@/lib/mail/mail";
import { inWords, linkTo, transactionalMail } from "@/lib/mail/mail-content";
import { sendLeasedMails } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import { claimAfterOutage, recordThroughOutage } from "@/lib/mail/store-outage";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

/*
 * A mail a day before an app loses its access. It has no row of its own: the row of the session says when it is due, so
 * anything that ends the session or moves its end takes the mail with it.
 */

const usedWithinMs = 3 * dayMs;
const batchSize = 20;
const retryAfterMs = 15 * 60 * 1000; // 15 minutes, until the session ends
const pollEveryMs = 60_000; // 1 minute

const row = z.object({
  id: z.string(),
  name: z.string().nullable(),
  app_origin: z.string().nullable(),
  expires_at_ms: z.int(),
  last_seen_at_ms: z.int().nullable(),
  email: z.string(),
  app_end_mails_stopped_at_ms: z.int().nullable(),
});

/** An app's session whose mail only this runner may send, until its lease expires. */
type Claimed = z.infer<typeof row> & { leaseUntilMs: number };

type RunnerOptions = { signal?: AbortSignal | undefined; now?: () => number };

/** Sends every mail that is due, as {@link sendLeasedMails} does. */
export async function sendAppEndMails(
  db: Db,
  mailSender: Sender,
  { signal, now = Date.now }: RunnerOptions = {},
): Promise<void> {
  await requireKeys(db);
  await sendLeasedMails(mailSender, {
    name: "a mail about an app's end",
    batchSize,
    claim: (limit, leaseMs) =>
      claimAfterOutage(db, async (isSettling) =>
        isSettling ? undefined : claim(db, { limit, leaseMs, nowMs: now() }),
      ),
    settle: (claimed) => settle(db, mailSender, claimed, { signal, now }),
    signal,
  });
}

/** Starts this process's runner, which looks once a minute. */
export function startAppEndRunner(): BackgroundLoop {
  return startBackgroundLoop(async (signal) => sendAppEndMails(await store(), sender(), { signal }), {
    pauseMs: pollEveryMs,
    failed: "the mails about apps' ends could not be read; the runner retries shortly",
  });
}

/** The recipient and content are read only after the lease is written, so that they are those of the last moment. */
async function claim(
  db: Db,
  { limit, leaseMs, nowMs }: { limit: number; leaseMs: number; nowMs: number },
): Promise<Claimed[] | undefined> {
  const due = db.selectFrom("local_sessions").select("id").where("end_mail_at_ms", "<=", nowMs);
  // Checked without a lock first, because usually nothing is due.
  if (!(await due.limit(1).executeTakeFirst())) return undefined;
  const leaseUntilMs = nowMs + leaseMs;
  const leased = await db
    .with("next", () => due.orderBy("end_mail_at_ms").limit(limit).forUpdate().skipLocked())
    .updateTable("local_sessions")
    .set({ end_mail_at_ms: leaseUntilMs })
    .where("id", "in", (query) => query.selectFrom("next").select("id"))
    .returning("id")
    .execute();
  if (leased.length === 0) return [];
  const rows = await db
    .selectFrom("local_sessions as session")
    .innerJoin("accounts", "accounts.id", "session.account_id")
    .select(["session.id", "name", "app_origin", "expires_at_ms", "last_seen_at_ms"])
    .select(["email", "app_end_mails_stopped_at_ms"])
    .where(
      "session.id",
      "in",
      leased.map(({ id }) => id),
    )
    .where("end_mail_at_ms", "=", leaseUntilMs)
    .execute();
  return z
    .array(row)
    .parse(rows)
    .map((session) => ({ ...session, leaseUntilMs }));
}

/** Sends one mail if it is wanted, and returns for how many milliseconds no other may start. */
async function settle(
  db: Db,
  mailSender: Sender,
  { leaseUntilMs, ...session }: Claimed,
  { signal, now }: RunnerOptions & { now: () => number },
): Promise<number> {
  const { id, name, app_origin: origin, email: to, expires_at_ms: endsAtMs } = session;
  const failure = isWanted(session, now())
    ? await trySending(mailSender, () => ({
        id: deriveMailId(`app-end:v1:${id}:${endsAtMs}`),
        ...appEndMail({ to, name: name ?? "An app", origin, endsAtMs }),
      }))
    : undefined;
  const nextAtMs = failure?.mayRetry ? now() + (failure.pauseMs || retryAfterMs) : undefined;
  if (failure) log().warn({ failure: failure.message }, "a mail about an app's end was not sent");
  const record = db
    .updateTable("local_sessions")
    .set({ end_mail_at_ms: nextAtMs ?? null })
    .where("id", "=", id)
    .where("end_mail_at_ms", "=", leaseUntilMs);
  await recordThroughOutage(() => record.execute(), signal);
  return failure?.pauseMs ?? 0;
}

function isWanted(session: z.infer<typeof row>, nowMs: number): boolean {
  const { expires_at_ms, last_seen_at_ms, app_end_mails_stopped_at_ms } = session;
  return (
    expires_at_ms > nowMs &&
    app_end_mails_stopped_at_ms === null &&
    last_seen_at_ms !== null &&
    last_seen_at_ms > nowMs - usedWithinMs
  );
}

type AppEndMail = { to: string; name: string; origin: string | null; endsAtMs: number };

/** The mail a day before the access of an app ends. Its link is the page of apps: a mail carries no secret that extends. */
export function appEndMail({ to, name, origin, endsAtMs }: AppEndMail): Omit<Mail, "id"> {
  return transactionalMail(to, {
    subject: "An app loses access to your account tomorrow",
    preview: "Give it another week on your access page, or let it end.",
    body: [
      `“${name}”, as the app calls itself, loses access to your account on ${inWords(endsAtMs)}.${origin ? ` We verified that it is: ${origin}.` : ""}`,
      "To keep it connected, open your access page and press “Give it another week” next to the app. If you do nothing, it is disconnected, and you can connect it again at any time.",
      linkTo(ownerPages.access),
    ],
    footer: [
      "You received this email because you connected this app and used it in the last three days. You can switch these emails off on your access page, below the list of connected apps.",
    ],
  });
}
