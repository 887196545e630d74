import { giveDueCredits } from "@/lib/accounts/credits/plan-credits";
import { deleteExpired } from "@/lib/accounts/leaving/retention";
import { sweepCodes } from "@/lib/auth/codes/sign-in-code-limits";
import { prepareStore } from "@/lib/background/prepared-store";
import { eraseLeavers } from "@/lib/billing/leavers";
import { readPriceForMail } from "@/lib/billing/prices/prices";
import { reconcile, reconcileEveryMs } from "@/lib/billing/reconciler";
import { buyDueCredits } from "@/lib/billing/top-ups/top-up";
import { settings } from "@/lib/config/settings";
import { type Db, migratedStore, processStore } from "@/lib/db/store";
import { tellChangedPlans } from "@/lib/events/changed-plans";
import { deliverDueWebhooks, deliverWebhooks, stopWebhooks } from "@/lib/events/delivery";
import { tellDueEvents } from "@/lib/events/due-events";
import { sweepEvents } from "@/lib/events/event-sweep";
import { onboardingOutbox } from "@/lib/mail/outbox/onboarding-outbox";
import { type Claimed, type Outbox, sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox, scheduledOutbox } from "@/lib/mail/outbox/outboxes";
import { sender } from "@/lib/mail/senders/sender";
import { sweepState } from "@/lib/oauth/sweep";
import { perProcess } from "@/lib/per-process";
import { inBackground, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";
import { watchOutages } from "@/lib/status/parts";

const second = 1000;
const minute = 60 * second;
const apartMs = 50;

/** The pause between two rounds, what the log says if one fails, the work, and what ends it. */
type Task = [
  pauseMs: number,
  failed: string,
  round: (signal: AbortSignal) => Promise<unknown>,
  end?: () => Promise<void>,
];

const inStore =
  (work: (db: Db, nowMs: number, signal: AbortSignal) => Promise<unknown>) => async (signal: AbortSignal) =>
    work(await migratedStore(), Date.now(), signal);

const sendFrom = <Mail extends Claimed>(outbox: Outbox<Mail>) =>
  inStore((db, _, signal) => sendDueMails(db, sender(), outbox, { signal }));

const endWebhooks = async () =>
  stopWebhooks(await migratedStore()).catch((failure) =>
    log().warn({ err: failure }, "what webhooks were answered last could not be noted; it is sent again"),
  );

const webhooksFailed = "webhooks could not be sent; they are when the store is back";
const webhooks: Task = [second / 5, webhooksFailed, inStore(deliverWebhooks), endWebhooks];

const mails: Task[] = [
  // It polls apart from requests, so their timing does not show whether a mail was sent.
  [second / 4, "the outbox could not be read; the runner retries shortly", sendFrom(outbox)],
  [
    5 * second,
    "the onboarding mails could not be read; the runner retries shortly",
    sendFrom(onboardingOutbox),
  ],
  [
    5 * second,
    "the mails that are due could not be read; the runner retries shortly",
    sendFrom(scheduledOutbox(readPriceForMail)),
  ],
];

const upkeep: Task[] = [
  [minute, "expired codes could not be deleted", inStore((db, nowMs) => sweepCodes(db, nowMs))],
  [minute, "the accounts to delete could not be read", inStore(eraseLeavers)],
  [5 * second, "the store's log of changes could not be emptied", () => processStore().boundLog()],
  [2 * second, "what time ended could not be told; it is when the store is back", inStore(tellDueEvents)],
  [
    2 * second,
    "the change of a plan could not be told; it is when the store is back",
    inStore((db, _, signal) => tellChangedPlans(db, signal)),
  ],
  [
    2 * second,
    "credits that are due could not be given; they are when the store is back",
    inStore(giveDueCredits),
  ],
  [60 * minute, "old events could not be deleted; they are in an hour", inStore(sweepEvents)],
  [60 * minute, "expired data could not be deleted; it is in an hour", inStore(deleteExpired)],
  // Often, so that a flood cannot exceed the maximum by much.
  [2 * second, "expired OAuth state could not be deleted", inStore(sweepState)],
];

const outages: Task = [
  10 * second,
  "outages could not be recorded; they are when the store is back",
  watchOutages,
];

const purchases: Task = [
  10 * second,
  "automatic purchases could not be read",
  inStore((db, nowMs) => buyDueCredits(db, nowMs)),
];

const reconciliation: Task = [
  reconcileEveryMs,
  "purchases could not be reconciled",
  inStore((db, nowMs, signal) => reconcile(db, nowMs, { signal })),
];

/**
 * Starts what this process does besides answering requests, one after the other: all at once, each would open a connection
 * to the store. Stopping it waits for the mails and webhooks that are being sent.
 */
export function startBackgroundWork(): (() => Promise<void>)[] {
  const trade = settings().billing ? [purchases, reconciliation] : [];
  const all = [webhooks, ...mails, ...upkeep, outages, ...trade];
  return all.map(([pauseMs, failed, round, end], place) => {
    const stop = startBackgroundLoop(round, { afterMs: place * apartMs, pauseMs, failed });
    return end ? () => stop().then(end) : stop;
  });
}

const beginsForMs = 20 * second; // what has begun by then takes ten seconds more at most

const roundOfAllWork = perProcess(
  "round of all work",
  (): { running?: Promise<boolean> | undefined } => ({}),
);

/**
 * Does all that is due, once, for a platform on which no process lives between two requests. Calls that come meanwhile
 * share the round. What waits for others waits apart from the rest, and what did not have its turn has it in the next round.
 *
 * @returns whether none of it failed; the log says what did
 */
export function doDueWork(): Promise<boolean> {
  const round = roundOfAllWork();
  round.running ??= inBackground(() => doAll(AbortSignal.timeout(beginsForMs))).finally(() => {
    round.running = undefined;
  });
  return round.running;
}

async function doAll(signal: AbortSignal): Promise<boolean> {
  await prepareStore();
  let hasFailed = false;
  const inTurn = async (...due: Task[]) => {
    for (const [, failed, round] of due) {
      if (signal.aborted) return;
      await round(signal).catch((failure) => {
        hasFailed = true;
        log().warn({ err: failure }, failed);
      });
    }
  };
  await Promise.all([
    inTurn([0, webhooksFailed, inStore((db, _, signal) => deliverDueWebhooks(db, signal))]),
    ...mails.map((task) => inTurn(task)),
    inTurn(...upkeep),
    ...(settings().billing ? [inTurn(reconciliation)] : []),
  ]);
  await inTurn(outages);
  return !hasFailed;
}
