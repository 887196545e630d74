import { createHash, randomBytes } from "node:crypto";
import { browserSessionSeconds } from "@/lib/auth/sessions/browser-session";
import type { Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";
import { sessionIn } from "@/tests/support/shop";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

/** The requests that a purchase makes at Stripe, in order. */
const steps = [
  "POST /v1/customers",
  "POST /v1/checkout/sessions",
  "GET /v1/checkout/sessions",
  "GET /v1/subscriptions",
];

/** When the service is killed: before Stripe does what was asked, before its answer, or right after it. */
const moments = ["before", "done", "answered"] as const;

/** The purchase of an owner, and the session and address of the owner's browser. */
export type Purchase = {
  account: string;
  cookie: string;
  kind: "licence" | "credits";
  from: string;
  session: string;
};

const senders = 5;

/**
 * Lets many owners buy at once while the service is killed between any two steps, events are repeated, reordered and
 * dropped, and Stripe is away for a while; then reconciles once. Returns what happened, with what was lost and what was
 * given twice.
 *
 * @param killsOfEach - kills before, during and after each request to Stripe
 */
export async function sellUnderFaults(stage: Stage, count: number, killsOfEach: number, seed = 1) {
  const random = randomFrom(seed);
  const stripe = await StripeStandIn.start();
  const service = await Service.start({ ...stage.environment, ...stripe.environment }, { logTo: "file" });
  const purchases = await makeOwners(stage, count);
  const figures = { purchases: count, kills: 0, deliveries: 0, refused: 0, unheard: 0 };

  let restarting: Promise<void> | undefined;
  const kill = () => {
    restarting ??= (async () => {
      figures.kills++;
      await service.kill();
      await service.run();
      restarting = undefined;
    })();
    return restarting;
  };
  // Each moment of each step comes when a part of all its requests has been made, so the kills are spread.
  const due = steps.flatMap((step) =>
    moments.flatMap((moment, at) =>
      Array.from({ length: killsOfEach }, (_, n) => ({
        step,
        moment,
        // After that many requests of this step.
        after: Math.floor(((n * moments.length + at + 1) / (killsOfEach * moments.length + 1)) * count * 0.4),
      })),
    ),
  );
  const made = new Map<string, number>();
  const isDue = (request: string, moment: (typeof moments)[number]) => {
    const step = steps.find((one) => request.startsWith(one));
    const at = due.findIndex(
      (one) => one.step === step && one.moment === moment && (made.get(step) ?? 0) >= one.after,
    );
    if (at >= 0) due.splice(at, 1);
    return at >= 0;
  };
  let isAway = false;
  stripe.faultOf = async (request) => {
    const step = steps.find((one) => request.startsWith(one));
    if (step) made.set(step, (made.get(step) ?? 0) + 1);
    if (isDue(request, "before")) await kill();
    return isAway ? "500" : "none";
  };
  stripe.whenDone = async (request) => {
    if (isDue(request, "done")) await kill();
    else if (isDue(request, "answered")) setTimeout(() => void kill(), random() * 8);
  };

  /** Asks until there is an answer: a browser's owner and Stripe come again. */
  const ask = async (send: () => Promise<{ status: number; text: string }>) => {
    for (;;) {
      await restarting;
      const answer = await send().catch(() => undefined);
      if (answer) return answer;
    }
  };

  await atOnce(senders, purchases, async (purchase) => {
    const fields = {
      account: purchase.account,
      [purchase.kind]: purchase.kind === "licence" ? "price_month" : "price_pack",
    };
    const options = { headers: { cookie: purchase.cookie }, from: purchase.from };
    const press = () => ask(() => service.submit("/home/checkout", fields, options));
    let answer = await press();
    while (answer.status === 502) answer = await press();
    purchase.session = sessionIn(answer as never);
  });
  // The first half is paid while the service is killed, the second while Stripe is away for a while.
  const all = [];
  const half = Math.ceil(purchases.length / 2);
  for (const paid of [purchases.slice(0, half), purchases.slice(half)]) {
    const byBank = paid.filter(({ kind }) => kind === "credits" && random() < 0.1);
    for (const purchase of paid) {
      // The metadata of some names another account: it is the customer who pays.
      const { metadata } = stripe.sessions.get(purchase.session) ?? {};
      if (metadata && purchase.kind === "credits" && random() < 0.1)
        metadata.account = purchases[0]?.account ?? "";
      stripe.pay(purchase.session, { byBank: byBank.includes(purchase) });
    }
    const events = stripe.takeEvents();
    all.push(...events);
    const unheardOf = new Set(paid.filter(() => random() < 0.1).map(({ account }) => account));
    const heard = events.filter(({ data }) => {
      const { account = "" } = (data.object as { metadata: Record<string, string> }).metadata;
      return !unheardOf.has(account) && random() > 0.1;
    });
    const deliveries = [...heard, ...heard, ...heard.filter(() => random() < 0.5)]
      .map((event) => ({ event, order: random() }))
      .sort((one, other) => one.order - other.order);
    figures.unheard += events.length - heard.length;
    const isSecond = paid[0] !== purchases[0];
    const away = { from: deliveries.length * 0.4, until: deliveries.length * 0.6 };
    await atOnce(senders, deliveries, async ({ event }, at) => {
      isAway = isSecond && at > away.from && at < away.until;
      // Some arrive several times at the same moment.
      const copies = Array.from({ length: random() < 0.2 ? 4 : 1 }, async () => {
        figures.deliveries++;
        const { status } = await ask(() => stripe.deliver(service, event));
        if (status !== 200) figures.refused++;
      });
      await Promise.all(copies);
    });
    // The banks pay, and no one hears of it.
    for (const { session } of byBank) stripe.settleAtBank(session, true);
    figures.unheard += stripe.takeEvents().length;
  }
  isAway = false;
  await restarting;

  const before = await countGiven(stage, purchases);
  const reconciled = await service.adminJson<{ read: number; failed: number }>("billing", "reconcile");
  const after = await countGiven(stage, purchases);
  // Everything once more, when all is settled.
  await atOnce(senders, all, async (event) => void (await ask(() => stripe.deliver(service, event))));
  await service.adminJson("billing", "reconcile");
  const atLast = await countGiven(stage, purchases);
  const sessions = stripe.sessions.size;
  const customers = stripe.customers.size;
  await service.stop();
  await stripe.stop();
  return {
    ...figures,
    killsLeft: due.length,
    sessions,
    customers,
    lostBefore: before.lost,
    reconciled,
    lost: after.lost,
    givenTwice: after.twice + atLast.twice,
    lostInTheEnd: atLast.lost,
  };
}

/** The purchases that are missing, and those that are there more than once: licences by plan, credits by balance and ledger. */
export async function countGiven(stage: Pick<Stage, "query">, purchases: Purchase[]) {
  const rows = await stage.query(
    `SELECT id, plan, credit_thousandths AS credits,
            (SELECT count(*) FROM credit_entries WHERE account_id = accounts.id) AS entries FROM accounts`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  let [lost, twice] = [0, 0];
  for (const { account, kind } of purchases) {
    const { plan, credits, entries } = byId.get(account) ?? {};
    if (kind === "licence" ? plan !== "licensed" : Number(credits) < 500_000) lost++;
    if (Number(credits) > (kind === "credits" ? 500_000 : 0) || Number(entries) > 1) twice++;
  }
  return { lost, twice };
}

/** Makes accounts with signed-in owners, half of which have a licence and buy credits. */
export async function makeOwners(stage: Pick<Stage, "query">, count: number): Promise<Purchase[]> {
  const nowMs = Date.now();
  const owners = Array.from({ length: count }, (_, n) => {
    const secret = randomBytes(32).toString("base64url");
    const hash = createHash("sha256").update(`corner-office:client:v1:${secret}`).digest("base64url");
    const kind = n % 2 === 0 ? ("licence" as const) : ("credits" as const);
    const from = `127.40.${Math.floor(n / 250)}.${(n % 250) + 1}`;
    return { account: `acc_${n}`, hash, cookie: `office-client=${secret}`, kind, from, session: "", n };
  });
  for (let at = 0; at < count; at += 100) {
    const some = owners.slice(at, at + 100);
    const accounts = some.map(
      ({ account, kind, n }) =>
        `('${account}', 'owner-${n}@example.com', 'user_${n}', ${kind === "licence" ? `'trial', 0` : `'licensed', null`}, 0, ${nowMs})`,
    );
    await stage.query(
      `INSERT INTO accounts (id, email, subject, plan, trial_ends_at_ms, credit_thousandths, created_at_ms) VALUES ${accounts.join(", ")}`,
    );
    const untilMs = nowMs + browserSessionSeconds * 1000;
    const sessions = some.map(
      ({ account, hash, n }) => `('sess_${n}', '${account}', ${untilMs}, '${hash}', 'browser', 'A browser')`,
    );
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, client_hash, kind, name) VALUES ${sessions.join(", ")}`,
    );
  }
  return owners;
}

/** Works on all items, some at once. */
async function atOnce<T>(workers: number, items: readonly T[], work: (item: T, at: number) => Promise<void>) {
  let next = 0;
  const take = async () => {
    while (next < items.length) {
      const at = next++;
      await work(items[at] as T, at);
    }
  };
  await Promise.all(Array.from({ length: workers }, take));
}

/** Random numbers that are the same in each run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
