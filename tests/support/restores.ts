import { Stripe } from "stripe";
import { parseAccount } from "@/lib/accounts/account";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { beginCheckout } from "@/lib/billing/checkout";
import { listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { purchaseIn } from "@/lib/billing/fulfilment/events";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { reconcile } from "@/lib/billing/reconciler";
import { dayMs } from "@/lib/config/durations";
import { perProcess } from "@/lib/per-process";
import type { Stage } from "@/tests/support/engines";
import { randomFrom } from "@/tests/support/purchases";
import { copyStore, replaceStore } from "@/tests/support/store-copies";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { asHttpClient } from "@/tests/support/years";

type Owner = { email: string; packs: string[]; licence?: string };

/**
 * A year in which owners join, buy licences and packs at Checkout, at a Payment Link and by bank, cancel, leave checkouts
 * open, are refunded and dispute, while a fifth of the events is lost. On random days the store is replaced by a copy of
 * another random day, and read at Stripe once. Counts what was wrong after each time.
 */
export async function liveRestores(stage: Stage, seed: number) {
  const random = randomFrom(seed);
  const chance = (part: number) => random() < part;
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const stripe = await StripeStandIn.start();
  let nowMs = Date.UTC(2026, 0, 1);
  stripe.nowMs = () => nowMs;
  Object.assign(process.env, stage.environment, stripe.environment, { LOG_LEVEL: "error" });
  const current = perProcess("stand-in of restores", () => ({ stripe }))();
  current.stripe = stripe;
  perProcess("stripe", async () => {
    const httpClient = asHttpClient(() => current.stripe);
    return new Stripe("sk_test_standin", { httpClient, telemetry: false, maxNetworkRetries: 0 });
  })();
  const db = await stage.open();
  const owners: Owner[] = [];
  const later: { atMs: number; run: () => void }[] = [];
  const figures = { days: 365, purchases: 0, restores: 0, lostAccounts: 0, oldest: 0 };
  const wrong = { failed: 0, lostLicence: 0, unpaidLicence: 0, credits: 0, unnamed: 0, soldAgain: 0 };
  const examples: string[] = [];
  const note = (what: keyof typeof wrong, { email }: { email: string }, ...more: unknown[]) => {
    wrong[what]++;
    examples.push([new Date(nowMs).toISOString().slice(0, 10), what, email, JSON.stringify(more)].join(" "));
  };

  const rowOf = ({ email }: Owner) =>
    db.selectFrom("accounts").selectAll().where("email", "=", email).executeTakeFirst();
  const begin = async (owner: Owner, kind: "licence" | "credits") => {
    const account = parseAccount(await rowOf(owner), nowMs);
    if (!account) return undefined;
    const price = kind === "licence" ? "price_month" : "price_pack";
    const address = await beginCheckout(db, account, { kind, priceId: price }, nowMs).catch(
      ({ code }) => void code,
    );
    return /\/pay\/(cs_\w+)/.exec(address ?? "")?.[1];
  };
  const isLive = ({ licence }: Owner) => stripe.subscriptions.get(licence ?? "")?.status === "active";
  const paidIn = (session: string) => {
    const charge = stripe.sessions.get(session)?.payment_status === "paid" && stripe.chargeOf(session);
    if (!charge) return 0;
    const lost = [...stripe.disputes.values()].some(
      (one) => one.charge === charge.id && one.status === "lost",
    );
    return lost ? 0 : (500_000 * (charge.amount - charge.amount_refunded)) / charge.amount;
  };
  const join = async (email: string) =>
    addAccount(db, email, { plan: "trial", trial_ends_at_ms: nowMs }, nowMs);

  const acts: Record<string, (owner: Owner) => unknown> = {
    async buy(owner) {
      const session = await begin(owner, "licence");
      if (!session || chance(0.2)) return;
      stripe.pay(session);
      owner.licence = String(stripe.sessions.get(session)?.subscription);
      figures.purchases++;
    },
    async buyPack(owner) {
      const session = await begin(owner, "credits");
      if (!session || chance(0.2)) return;
      owner.packs.push(session);
      figures.purchases++;
      const byBank = chance(0.3);
      stripe.pay(session, { byBank });
      const isPaid = chance(0.8);
      if (byBank)
        later.push({ atMs: nowMs + random() * 10 * dayMs, run: () => stripe.settleAtBank(session, isPaid) });
    },
    payLink(owner) {
      if (isLive(owner)) owner.packs.push(stripe.payLink(owner.email.toUpperCase(), "price_pack"));
      else
        owner.licence = String(stripe.sessions.get(stripe.payLink(owner.email, "price_month"))?.subscription);
      figures.purchases++;
    },
    refund({ packs }) {
      const session = oneOf(packs.filter(paidIn));
      if (session && !stripe.chargeOf(session).refunded) stripe.refund(session, 500);
    },
    dispute({ packs }) {
      const session = oneOf(packs.filter(paidIn));
      if (!session || stripe.chargeOf(session).disputed) return;
      const { close } = stripe.dispute(stripe.chargeOf(session));
      const isLost = chance(0.6);
      later.push({ atMs: nowMs + random() * 60 * dayMs, run: () => close(isLost ? "lost" : "won") });
    },
    cancel: (owner) => isLive(owner) && owner.licence && stripe.end(owner.licence),
  };

  async function look() {
    for (const owner of owners) {
      const row = await rowOf(owner);
      if (!row) continue;
      if (isLive(owner) && row.plan !== "licensed") note("lostLicence", owner, owner.licence);
      if (!isLive(owner) && row.plan === "licensed") note("unpaidLicence", owner, owner.licence);
      const paid = owner.packs.reduce((sum, session) => sum + paidIn(session), 0);
      if (Number(row.credit_thousandths) === paid) continue;
      const kept = await db
        .selectFrom("billing_checkouts")
        .selectAll()
        .where("account_id", "=", row.id)
        .execute();
      const atStripe = owner.packs.map((session) => {
        const { id, created, status, payment_status, payment_link } = stripe.sessions.get(session) ?? {};
        return { id, created, status, payment_status, payment_link, paid: paidIn(session) };
      });
      note("credits", owner, row.credit_thousandths, paid, atStripe, kept);
    }
  }

  const copyNow = async () => ({ atMs: nowMs, rows: await copyStore(stage) });

  async function restore(copy: Awaited<ReturnType<typeof copyNow>>) {
    figures.restores++;
    figures.oldest = Math.max(figures.oldest, Math.round((nowMs - copy.atMs) / dayMs));
    await replaceStore(stage, copy.rows);
    wrong.failed += (await reconcile(db, nowMs, { isRestored: true })).failed;
    await look();
    const named = (await listUnclaimed(db)).map(({ email }) => email);
    for (const owner of owners) {
      if (await rowOf(owner)) continue;
      figures.lostAccounts++;
      const hasBought = isLive(owner) || owner.packs.some(paidIn);
      if (hasBought && !named.includes(owner.email)) note("unnamed", owner, owner.licence, owner.packs);
      await join(owner.email);
    }
    wrong.failed += (await reconcile(db, nowMs)).failed;
    await look();
    for (const owner of owners.filter(isLive)) if (await begin(owner, "licence")) note("soldAgain", owner);
  }

  let copy = await copyNow();
  for (let day = 0; day < figures.days; day++) {
    nowMs += dayMs;
    if (owners.length < 12 && chance(0.1)) {
      const email = `owner-${owners.length}@example.com`;
      await join(email);
      owners.push({ email, packs: [] });
    }
    for (const { run } of later.splice(0).filter((one) => one.atMs <= nowMs || !later.push(one))) run();
    for (const { id, status, created } of stripe.sessions.values())
      if (status === "open" && created * 1000 <= nowMs - dayMs)
        stripe.answer("POST", `/v1/checkout/sessions/${id}/expire`, new URLSearchParams());
    for (const { id, status } of stripe.subscriptions.values())
      if (status === "active" && stripe.itemOf(id).current_period_end * 1000 <= nowMs) stripe.renew(id);
    for (const owner of owners) if (chance(0.12)) await oneOf(Object.values(acts))(owner);
    for (const event of stripe.takeEvents()) {
      const purchase = purchaseIn(event);
      if (purchase && chance(0.8)) await fulfil(db, purchase, event.type, nowMs);
    }
    wrong.failed += (await reconcile(db, nowMs)).failed;
    if (chance(0.12)) copy = await copyNow();
    nowMs += 3_600_000;
    if (chance(0.08)) await restore(copy);
  }
  await stripe.stop();
  return { ...figures, ...wrong, examples };
}
