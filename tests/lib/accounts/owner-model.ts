import { dayMs, hourMs } from "@/lib/config/durations";

/*
 * What an owner must have after what happened, written from the specification, the documents and the operator's guide; only
 * until when a late mail is still sent is as in the code, of which they do not speak.
 */

/** A licence or a pack as it is at Stripe. */
export type AtStripe = {
  licence?: {
    id: string;
    status: string;
    endsAtMs: number;
    isCancelled: boolean;
    paidUntilMs: number;
    isReturned: boolean;
  };
  /** Of each pack, the credits that were bought and not refunded. */
  packs: number[];
};

/** One of the things that may be true of an owner. It is a value: it is compared as its JSON. */
export type Owner = {
  email: string;
  createdAtMs?: number;
  plan?: "trial" | "hobby" | "licensed" | undefined;
  trialEndsAtMs: number;
  /** What was heard of Stripe. */
  licence?: AtStripe["licence"] | undefined;
  /** What was heard of each pack: null if nothing. */
  packs: (number | null)[];
  /** Whether its licence ran when that was last looked at. */
  ran: boolean;
  entries: number[];
  holds: { credits: number; untilMs: number }[];
  leavesAtMs?: number | undefined;
  app?: { sinceMs: number; usedAtMs: number } | undefined;
  /** What mails were sent, by kind, and what each was about. */
  mails: string[];
  /** Mails about what has gone wrong, which wait for what mends it. */
  waiting: { mail: string; dueAtMs: number }[];
};

export type Seen = {
  status: string | undefined;
  trialEndsAtMs: number | undefined;
  balance: number;
  held: number;
  entries: number[];
  mails: string[];
  /** What its app is answered: 200, 403, or 401 if it is none any more. */
  app: number;
};

export const nobody = (email: string): Owner => ({
  email,
  trialEndsAtMs: 0,
  packs: [],
  ran: false,
  entries: [],
  holds: [],
  mails: [],
  waiting: [],
});

/** `LICENCE_GRACE_DAYS`. */
const graceMs = 14 * dayMs;

/** What a pack gives. */
export const packCredits = 500;

const isThere = (owner: Owner) => owner.createdAtMs !== undefined;

function runs({ licence }: Owner, nowMs: number): boolean {
  if (!licence || licence.isReturned) return false;
  if (licence.status === "past_due") return nowMs < licence.paidUntilMs + graceMs;
  if (licence.status !== "active") return false;
  return !licence.isCancelled || nowMs < licence.endsAtMs;
}

export function statusOf(owner: Owner, nowMs: number): string | undefined {
  if (!isThere(owner)) return undefined;
  if (owner.plan === "licensed" || runs(owner, nowMs)) return "licensed";
  if (owner.plan === "hobby") return "hobby";
  return nowMs < owner.trialEndsAtMs ? "trial" : "trial-ended";
}

const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
const heldBy = (owner: Owner, nowMs: number) =>
  sum(owner.holds.filter(({ untilMs }) => untilMs > nowMs).map(({ credits }) => credits));
const balanceOf = (owner: Owner, nowMs: number) => sum(owner.entries) - heldBy(owner, nowMs);

/** What can be seen of an owner. */
export function see(owner: Owner, nowMs: number): Seen {
  const status = statusOf(owner, nowMs);
  const { sinceMs = 0, usedAtMs = 0 } = owner.app ?? {};
  const isAlive = nowMs < Math.min(usedAtMs + 30 * dayMs, sinceMs + 180 * dayMs);
  return {
    status,
    trialEndsAtMs: status === "trial" ? owner.trialEndsAtMs : undefined,
    balance: balanceOf(owner, nowMs),
    held: heldBy(owner, nowMs),
    entries: owner.entries.toSorted((one, other) => one - other),
    mails: owner.mails.map((mail) => mail.replace(/:.*/, "")).sort(),
    app: !isAlive ? 401 : status === "trial-ended" ? 403 : 200,
  };
}

/** An act of an owner, an operator or Stripe's customer, as a story tells it. */
export type Act = { who: number; what: What; amount: number };

export const whats = [
  ...(["add trial", "add hobby", "add licensed", "set trial", "set hobby", "set licensed"] as const),
  ...(["buy", "cancel", "uncancel", "end", "refund", "card fails", "card works", "pay"] as const),
  ...(["buy pack", "refund pack"] as const),
  ...(["give", "spend", "hold", "settle", "release"] as const),
  ...(["leave", "keep", "erase", "connect", "revoke", "unsubscribe"] as const),
] as const;
export type What = (typeof whats)[number];

/** What an act's owner may be afterwards, with what the act is answered. */
export type Outcome = { owner: Owner; answer: "done" | "refused" };

const deletionMail = (nowMs: number) => `account deletion:${nowMs + dayMs}`;

const done = (owner: Owner): Outcome => ({ owner, answer: "done" });

/** Has one act happen, of which Stripe's part is heard later: {@link hear}. */
export function happen(owner: Owner, act: Act, nowMs: number): Outcome[] {
  const outcome = happenFor(owner, act, nowMs);
  // What has ended at Stripe may not be known yet, and then no second licence is sold.
  const isKnown = owner.licence && owner.licence.status !== "canceled";
  if (act.what === "buy" && isKnown) return [outcome, { owner, answer: "refused" }];
  // A mail about a deletion that is taken back at once is perhaps not sent yet, and then it is not.
  const mails = owner.mails.filter((mail) => mail !== deletionMail(nowMs));
  if (act.what === "keep") {
    // At the millisecond in which it is due, the deletion may be first.
    const isDue = owner.leavesAtMs !== undefined && owner.leavesAtMs <= nowMs;
    const erased = isDue ? [done(nobody(owner.email))] : [];
    return [outcome, { ...outcome, owner: { ...outcome.owner, mails } }, ...erased];
  }
  return [outcome];
}

function happenFor(owner: Owner, { what, amount }: Act, nowMs: number): Outcome {
  const refused: Outcome = { owner, answer: "refused" };
  const [verb, plan] = what.split(" ") as [string, Owner["plan"]];
  if (verb === "add") {
    if (isThere(owner)) return refused;
    const trialEndsAtMs = plan === "trial" ? nowMs + amount * dayMs : 0;
    return done({ ...nobody(owner.email), createdAtMs: nowMs, plan, trialEndsAtMs, entries: [20] });
  }
  if (!isThere(owner)) return refused;
  const [hold] = owner.holds;
  switch (what) {
    case "set trial":
      return done({ ...owner, plan: "trial", trialEndsAtMs: nowMs + amount * dayMs });
    case "set hobby":
      return done({ ...owner, plan: "hobby" });
    case "set licensed":
      return done({ ...owner, plan: "licensed" });
    case "buy":
      return owner.leavesAtMs ? refused : done(owner);
    case "buy pack":
      return owner.leavesAtMs || statusOf(owner, nowMs) !== "licensed" ? refused : done(owner);
    case "give":
      return done({ ...owner, entries: [...owner.entries, amount] });
    case "spend":
      if (balanceOf(owner, nowMs) < amount) return refused;
      return done({ ...owner, entries: [...owner.entries, -amount] });
    case "hold":
      if (balanceOf(owner, nowMs) < amount) return refused;
      return done({ ...owner, holds: [...owner.holds, { credits: amount, untilMs: nowMs + hourMs }] });
    case "settle":
    case "release": {
      const holds = owner.holds.slice(1);
      if (!hold || hold.untilMs <= nowMs) return { owner: { ...owner, holds }, answer: "refused" };
      const entries = what === "settle" ? [...owner.entries, -hold.credits] : owner.entries;
      return done({ ...owner, entries, holds });
    }
    case "leave": {
      if (owner.leavesAtMs) return done(owner);
      return done({ ...owner, leavesAtMs: nowMs + dayMs, mails: [...owner.mails, deletionMail(nowMs)] });
    }
    case "keep":
      return done({ ...owner, leavesAtMs: undefined });
    case "erase":
      return done(nobody(owner.email));
    case "connect":
      return done({
        ...owner,
        app: { sinceMs: nowMs, usedAtMs: nowMs },
        mails: [...owner.mails, `new app:${nowMs}`],
      });
    case "revoke":
      return done({ ...owner, app: undefined });
    default:
      return done(owner);
  }
}

const mailed = (owner: Owner, mail: string): Owner =>
  owner.mails.includes(mail) ? owner : { ...owner, mails: [...owner.mails, mail] };

const mendedWithinMs = 5 * 60_000;

function mailedLater(owner: Owner, mail: string, nowMs: number): Owner {
  const isKnown = owner.mails.includes(mail) || owner.waiting.some((one) => one.mail === mail);
  return isKnown
    ? owner
    : { ...owner, waiting: [...owner.waiting, { mail, dueAtMs: nowMs + mendedWithinMs }] };
}

/** Sends what has waited, unless it was mended, or nothing was sent for two days. */
function sendWaiting(owner: Owner, nowMs: number): Owner {
  const due = owner.waiting.filter(({ dueAtMs }) => dueAtMs <= nowMs);
  const rest = { ...owner, waiting: owner.waiting.filter(({ dueAtMs }) => dueAtMs > nowMs) };
  const isRunning = runs(owner, nowMs);
  const isTrue = (mail: string) =>
    mail.startsWith("payment failed")
      ? isRunning && mail === failedOf(owner.licence)
      : !isRunning && owner.plan !== "licensed";
  const isLate = (mail: string, dueAtMs: number) =>
    mail.startsWith("licence ended") && nowMs >= dueAtMs - mendedWithinMs + 2 * dayMs;
  return due
    .filter(({ mail, dueAtMs }) => isTrue(mail) && !isLate(mail, dueAtMs))
    .reduce((one, { mail }) => mailed(one, mail), rest);
}

const failedOf = (licence: Owner["licence"]) =>
  licence?.status === "past_due" ? `payment failed:${licence.id}:${licence.paidUntilMs}` : undefined;

/** What it may be once the service has read at Stripe what there is of the licence, or of one pack. */
export function hear(owner: Owner, of: "licence" | number, there: AtStripe, nowMs: number): Owner[] {
  if (!isThere(owner)) return [owner];
  const licence = of === "licence" ? there.licence : owner.licence;
  const packs = there.packs.map((credits, at) => (at === of ? credits : (owner.packs[at] ?? null)));
  let all = [{ ...owner, licence, packs }];
  for (const [at, credits] of packs.entries()) {
    if (credits === null) continue;
    const isFirst = (owner.packs[at] ?? null) === null;
    if (isFirst) all = all.map((one) => ({ ...one, entries: [...one.entries, packCredits] }));
    const returned = (isFirst ? packCredits : (owner.packs[at] ?? 0)) - credits;
    // Credits that are returned are taken, at most those that are left.
    all = all.map((one) => {
      const taken = Math.min(returned, balanceOf(one, nowMs));
      return taken === 0 ? one : { ...one, entries: [...one.entries, -taken] };
    });
  }
  return all.flatMap((one) => {
    if (licence?.status === "past_due" && runs(one, nowMs))
      return [mailedLater(one, failedOf(licence) ?? "", nowMs)];
    // One that ended before anything was heard of it.
    const isNews = licence && licence.id !== owner.licence?.id && !runs(one, nowMs);
    return isNews && owner.plan !== "licensed"
      ? [one, mailedLater(one, `licence ended:${licence.id}`, nowMs)]
      : [one];
  });
}

/** Its app asks again, whose use is noted once an hour. */
export function useApp(owner: Owner, isAnswered: boolean, nowMs: number): Owner[] {
  const { app } = owner;
  if (!app || !isAnswered) return [{ ...owner, app: undefined }];
  const used = { ...owner, app: { ...app, usedAtMs: nowMs } };
  return nowMs - app.usedAtMs < hourMs ? [owner, used] : [used];
}

/** What it may be once all was done that is due. */
export function fallDue(owner: Owner, nowMs: number): Owner {
  if (!isThere(owner)) return owner;
  if (owner.leavesAtMs && owner.leavesAtMs <= nowMs) return nobody(owner.email);
  const { plan, trialEndsAtMs: endsAtMs, createdAtMs = 0, licence } = owner;
  const isRunning = runs(owner, nowMs);
  let after: Owner = { ...owner, ran: isRunning };
  const isDue = (atMs: number) => createdAtMs <= atMs && atMs <= nowMs && nowMs < atMs + 2 * dayMs;
  if (plan === "trial" && !isRunning) {
    if (isDue(endsAtMs - 3 * dayMs)) after = mailed(after, `trial ending:${endsAtMs}`);
    if (isDue(endsAtMs)) after = mailed(after, `trial ended:${endsAtMs}`);
  }
  if (plan === "licensed") return sendWaiting(after, nowMs);
  if (owner.ran && !isRunning) after = mailedLater(after, `licence ended:${licence?.id}:${nowMs}`, nowMs);
  if (
    isRunning &&
    licence?.isCancelled &&
    licence.status === "active" &&
    licence.endsAtMs - 3 * dayMs <= nowMs
  )
    after = mailed(after, `licence ending:${licence.id}:${licence.endsAtMs}`);
  return sendWaiting(after, nowMs);
}
