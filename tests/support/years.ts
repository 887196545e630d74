import { Stripe } from "stripe";
import { parseAccount } from "@/lib/accounts/account";
import { deleteAccount, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { beginCheckout } from "@/lib/billing/checkout";
import { deleteCustomer } from "@/lib/billing/customer";
import { fulfil, purchaseEvents } from "@/lib/billing/fulfilment";
import { reconcile } from "@/lib/billing/reconciler";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import type { Stage } from "@/tests/support/engines";
import { randomFrom } from "@/tests/support/purchases";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

const graceDays = 14;
const atOnce = 25; // owners of one Stripe account

type Owner = {
  email: string;
  cardFails: boolean;
  /** What Stripe does with a subscription that stays unpaid. */
  dunning: "cancel" | "unpaid" | "leave";
  /** Whether an operator gives the licence. */
  isGiven: boolean;
  /** Since when the owner has paid for a licence that runs, and since when for none. */
  paysSinceMs: number | undefined;
  creditsPaid: number;
  wasTwice: boolean;
};

/** Until when a subscription is paid, by what happened to it: not by what the service makes of it. */
type Cover = { owner: Owner; untilMs: number; wasUntilMs: number; pastDueSinceMs: number | undefined };

/**
 * Lives years of owners day by day: they buy, change, cancel, fail to pay and recover, are refunded, dispute, are paused,
 * erased and given something by operators, while events are dropped, repeated, late and in any order, and Stripe is away
 * now and then. Returns what happened and what was wrong.
 */
export async function liveYears(stage: Stage, years: number, seed = 1) {
  const random = randomFrom(seed);
  const db = await stage.open();
  const figures = { years: 0, acts: 0, events: 0, dropped: 0, purchases: 0, licensedDays: 0, unpaidDays: 0 };
  const wrong = { runsUnpaid: 0, paidAndStopped: 0, chargedTwice: 0, creditsWrong: 0 };
  const examples: string[] = [];
  for (let left = years; left > 0; left -= atOnce) {
    const life = await Life.begin(db, Math.min(left, atOnce), random, figures);
    for (let day = 0; day < 365; day++) {
      const found = await life.liveDay();
      for (const [what, owners] of Object.entries(found) as [keyof typeof wrong, string[]][]) {
        wrong[what] += owners.length;
        examples.push(...owners.map((who) => `day ${day}: ${what}: ${who}`));
      }
    }
    figures.years += life.owners.length;
    await life.stop();
    await stage.query("DELETE FROM accounts");
  }
  return { ...figures, ...wrong, examples: examples.slice(0, 5) };
}

class Life {
  readonly owners: Owner[] = [];
  private readonly covers = new Map<string, Cover>();
  private late: { event: Event; atMs: number }[] = [];
  private nowMs = Date.UTC(2026, 0, 1);
  private readonly later: { atMs: number; run: () => void }[] = [];
  private made = 0;

  private constructor(
    private readonly db: Db,
    private readonly stripe: StripeStandIn,
    private readonly random: () => number,
    private readonly figures: { acts: number; events: number; dropped: number } & Record<
      "purchases" | "licensedDays" | "unpaidDays",
      number
    >,
  ) {}

  static async begin(db: Db, owners: number, random: () => number, figures: Life["figures"]): Promise<Life> {
    const stripe = await StripeStandIn.start();
    const month = stripe.prices.get("price_month");
    stripe.prices.set("price_more", { ...month, id: "price_more", unit_amount: 9900 } as never);
    Object.assign(process.env, stripe.environment, {
      STRIPE_LICENCE_PRICES: "price_month,price_more,price_team",
      LICENCE_GRACE_DAYS: String(graceDays),
    });
    process.env.STRIPE_API_URL = "http://127.0.0.1:1";
    const client = { stripe: stripe as StripeStandIn | undefined };
    processSingleton("stand-in of years", () => client).stripe = stripe;
    processSingleton("stripe", async () => {
      const current = processSingleton("stand-in of years", () => client);
      const fetchIt: typeof fetch = (url, init) => (current.stripe as StripeStandIn).fetch(url, init);
      const httpClient = Stripe.createFetchHttpClient(fetchIt);
      return new Stripe("sk_test_standin", { httpClient, telemetry: false, maxNetworkRetries: 0 });
    });
    const life = new Life(db, stripe, random, figures);
    stripe.nowMs = () => life.nowMs;
    for (let n = 0; n < owners; n++) life.owners.push(await life.join());
    return life;
  }

  async stop(): Promise<void> {
    await this.stripe.stop();
  }

  private async join(): Promise<Owner> {
    const email = `owner-${++this.made}-${Math.floor(this.random() * 1e9)}@example.com`;
    await addAccount(this.db, email, { plan: "trial", trialEndsAtMs: this.nowMs }, this.nowMs);
    const dunning = this.oneOf(["cancel", "unpaid", "leave"] as const);
    return {
      ...{ email, dunning, cardFails: false, isGiven: false, paysSinceMs: undefined },
      ...{ creditsPaid: 0, wasTwice: false },
    };
  }

  private oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  private chance(part: number): boolean {
    return this.random() < part;
  }

  /** A day: what Stripe does, what people do, what of it is heard, two rounds of the reconciler, and what is wrong then. */
  async liveDay() {
    this.nowMs += dayMs;
    for (const { run } of this.later
      .splice(0)
      .filter((one) => one.atMs <= this.nowMs || !this.later.push(one)))
      run();
    this.passAtStripe();
    for (const owner of [...this.owners]) if (this.chance(0.05)) await this.act(owner);
    await this.hear();
    const isAway = this.chance(0.1);
    this.stripe.faultOf = () => (isAway ? "500" : "none");
    await reconcile(this.db, this.nowMs);
    this.stripe.faultOf = () => "none";
    this.nowMs += 600_000;
    await reconcile(this.db, this.nowMs);
    return this.look();
  }

  private subscriptionsOf({ email }: Owner) {
    const customers = [...this.stripe.customers.values()].filter((one) => one.metadata.email === email);
    const ids = customers.map(({ id }) => id);
    return [...this.stripe.subscriptions.values()].filter(
      ({ customer, status }) => ids.includes(String(customer)) && status !== "canceled",
    );
  }

  private periodEndMs(id: string): number {
    return (this.stripe.subscriptions.get(id)?.items.data[0]?.current_period_end ?? 0) * 1000;
  }

  private coverOf(id: string): Cover {
    const cover = this.covers.get(id);
    if (!cover) throw new Error(`no cover of ${id}`);
    return cover;
  }

  /** Renews, retries and gives up, as Stripe does by itself. */
  private passAtStripe(): void {
    for (const [id, cover] of this.covers) {
      const subscription = this.stripe.subscriptions.get(id);
      if (!subscription || subscription.status === "canceled") continue;
      const { owner } = cover;
      if (this.periodEndMs(id) <= this.nowMs) {
        if (subscription.cancel_at_period_end) {
          this.end(id);
          continue;
        }
        this.stripe.renew(id, { isPaid: !owner.cardFails });
        this.note(id, this.stripe.subscriptions.get(id)?.status === "active");
      }
      const since = cover.pastDueSinceMs;
      if (since !== undefined && this.nowMs - since > 21 * dayMs && subscription.status === "past_due") {
        if (owner.dunning === "cancel") this.end(id);
        if (owner.dunning === "unpaid") this.stripe.change(id, { status: "unpaid" });
      }
    }
  }

  private note(id: string, isPaid: boolean): void {
    const cover = this.coverOf(id);
    if (isPaid) {
      cover.untilMs = cover.wasUntilMs = this.periodEndMs(id);
      cover.pastDueSinceMs = undefined;
    } else cover.pastDueSinceMs ??= this.nowMs;
  }

  private end(id: string): void {
    this.stripe.end(id);
    const cover = this.coverOf(id);
    cover.untilMs = cover.wasUntilMs = Math.min(cover.untilMs, this.nowMs) - graceDays * dayMs;
  }

  /** One random act of an owner, of their bank or of an operator. */
  private async act(owner: Owner): Promise<void> {
    this.figures.acts++;
    const [subscription] = this.subscriptionsOf(owner);
    const id = subscription?.id;
    const isActive = subscription?.status === "active";
    const item = subscription?.items.data[0];
    const acts: (() => unknown)[] = [
      () => this.buy(owner),
      () => this.buy(owner),
      () => this.buyCredits(owner),
      () => this.operate(owner),
      () => this.leave(owner),
      () => {
        owner.cardFails = !owner.cardFails;
      },
    ];
    if (id && item && isActive) {
      const others = ["price_month", "price_more", "price_team"].filter((price) => price !== item.price.id);
      acts.push(
        () => this.switch(owner, id, this.oneOf(others)),
        () => this.switch(owner, id, this.oneOf(others)),
        () => this.stripe.cancelAtPeriodEnd(id),
        () => this.stripe.change(id, { cancel_at_period_end: false, cancel_at: null }),
        () => this.end(id),
        () => this.returnMoney(id),
        () => this.returnMoney(id),
        () => this.stripe.change(id, { pause_collection: { behavior: "void", resumes_at: null } }),
        () => this.stripe.change(id, { pause_collection: null }),
        () => this.deleteAtStripe(owner),
      );
    }
    if (id && !isActive)
      acts.push(
        () => this.recover(owner, id),
        () => this.recover(owner, id),
      );
    await this.oneOf(acts)();
  }

  private async buy(owner: Owner): Promise<void> {
    const tabs = this.chance(0.3) ? 2 : 1;
    const price = () => this.oneOf(["price_month", "price_more", "price_team"]);
    const addresses = await Promise.all(
      Array.from({ length: tabs }, () => this.begin(owner, "licence", price())),
    );
    for (const address of addresses) {
      const session = this.openSession(address);
      if (session) {
        this.stripe.pay(session);
        this.figures.purchases++;
        const id = String(this.stripe.sessions.get(session)?.subscription);
        this.covers.set(id, { owner, untilMs: 0, wasUntilMs: 0, pastDueSinceMs: undefined });
        this.note(id, true);
        const live = this.subscriptionsOf(owner).filter(({ metadata }) => metadata.account);
        if (live.length > 1) owner.wasTwice = true;
      } else if (address?.includes("/portal/") && this.chance(0.5)) {
        for (const { id, status } of this.subscriptionsOf(owner))
          if (status !== "active") this.recover(owner, id);
      }
    }
  }

  private openSession(address: string | undefined): string | undefined {
    const session = /\/pay\/(cs_\w+)/.exec(address ?? "")?.[1];
    return session && this.stripe.sessions.get(session)?.status === "open" ? session : undefined;
  }

  private async begin({ email }: Owner, kind: "licence" | "credits", price: string) {
    const row = await this.rowOf(email);
    const account = parseAccount(row);
    if (!account) throw new Error(`no account ${email}`);
    return beginCheckout(this.db, account, kind, price, this.nowMs).catch((refusal) => {
      if (["paid_only", "checkout_failed"].includes(refusal.code)) return undefined;
      throw refusal;
    });
  }

  private rowOf(email: string) {
    return this.db.selectFrom("accounts").selectAll().where("email", "=", email).executeTakeFirst();
  }

  private async buyCredits(owner: Owner): Promise<void> {
    const session = this.openSession(await this.begin(owner, "credits", "price_pack"));
    if (!session) return;
    const byBank = this.chance(0.3);
    this.stripe.pay(session, { byBank });
    const settle = (isPaid: boolean) => {
      if (byBank) this.stripe.settleAtBank(session, isPaid);
      if (isPaid) owner.creditsPaid += 500_000;
    };
    if (!byBank) settle(true);
    else this.after(this.random() * 10, () => settle(this.chance(0.8)));
    if (this.chance(0.3))
      this.after(15, () => {
        if (this.stripe.sessions.get(session)?.payment_status !== "paid") return;
        this.stripe.refund(session, 500);
        owner.creditsPaid -= 250_000;
        if (!this.chance(0.3)) return;
        this.after(5, () => {
          this.stripe.failRefund(this.stripe.chargeOf(session));
          owner.creditsPaid += 250_000;
        });
      });
  }

  private after(days: number, run: () => void): void {
    this.later.push({ atMs: this.nowMs + days * dayMs, run });
  }

  /** Switches the price; if that begins a period, it is paid or not. */
  private switch(owner: Owner, id: string, price: string): void {
    const before = this.periodEndMs(id);
    this.stripe.switchPrice(id, price, { isPaid: !owner.cardFails });
    const isPaid = this.stripe.subscriptions.get(id)?.status === "active";
    const cover = this.coverOf(id);
    const isSamePeriod = this.periodEndMs(id) === before;
    if (isPaid) this.note(id, true);
    if (!isPaid) {
      cover.pastDueSinceMs ??= this.nowMs;
      if (!isSamePeriod) cover.untilMs = cover.wasUntilMs = this.nowMs;
    }
    this.settleCover(id);
  }

  private recover(owner: Owner, id: string): void {
    owner.cardFails = false;
    this.stripe.payOpen(id);
    this.note(id, true);
  }

  /** What was paid for a subscription's current period. */
  private chargesOf(id: string) {
    const start = this.stripe.subscriptions.get(id)?.items.data[0]?.current_period_start ?? 0;
    const intents = [...this.stripe.invoices.values()].flatMap(({ parent, intents }) =>
      parent.subscription_details.subscription === id ? intents : [],
    );
    return [...this.stripe.charges.values()].filter(
      ({ payment_intent, created }) => intents.includes(payment_intent) && created >= start,
    );
  }

  /** A period of which all was returned is not paid; if a refund fails, it is again. */
  private settleCover(id: string): void {
    const cover = this.coverOf(id);
    const isLost = ({ id: charge }: { id: string }) =>
      [...this.stripe.disputes.values()].some((one) => one.charge === charge && one.status === "lost");
    const charges = this.chargesOf(id);
    const isReturned = charges.length > 0 && charges.every((charge) => charge.refunded || isLost(charge));
    cover.untilMs = isReturned ? Math.min(cover.untilMs, this.nowMs - graceDays * dayMs) : cover.wasUntilMs;
  }

  /** What was paid for the period is refunded, wholly or in part, or disputed; some refunds fail. */
  private returnMoney(id: string): void {
    const charges = this.chargesOf(id).filter(({ refunded, disputed }) => !refunded && !disputed);
    const part = this.chance(0.25) ? 3 : 1;
    if (part === 3 || this.chance(0.5)) {
      for (const charge of charges)
        this.stripe.refundCharge(charge, Math.floor((charge.amount - charge.amount_refunded) / part));
      this.settleCover(id);
      if (!this.chance(0.3)) return;
      this.after(5, () => {
        for (const charge of charges) this.stripe.failRefund(charge);
        if (this.covers.has(id)) this.settleCover(id);
      });
    } else {
      const disputes = charges.map((charge) => this.stripe.dispute(charge));
      const isLost = this.chance(0.5);
      this.after(10, () => {
        for (const dispute of disputes) dispute.close(isLost ? "lost" : "won");
        if (this.covers.has(id)) this.settleCover(id);
      });
    }
  }

  private async operate(owner: Owner): Promise<void> {
    const plan = this.oneOf(["licensed", "hobby", "trial"] as const);
    const assistantLimit = this.oneOf([null, 3, 50]);
    const trialEndsAtMs = plan === "trial" ? this.nowMs - 1 : undefined;
    await setAccount(this.db, owner.email, { plan, assistantLimit, trialEndsAtMs }, this.nowMs);
    owner.isGiven = plan === "licensed";
  }

  private deleteAtStripe({ email }: Owner): void {
    const ids = this.subscriptionsOf({ email } as Owner).map(({ id }) => id);
    for (const [id, { metadata }] of this.stripe.customers)
      if (metadata.email === email) this.stripe.deleteCustomer(id);
    for (const id of ids) this.coverOf(id).untilMs = this.nowMs - graceDays * dayMs;
  }

  /** The account is deleted, and someone else comes. */
  private async leave(owner: Owner): Promise<void> {
    if (!this.chance(0.2)) return;
    const ids = this.subscriptionsOf(owner).map(({ id }) => id);
    await deleteCustomer(this.db, "email", owner.email, this.nowMs);
    await deleteAccount(this.db, owner.email, this.nowMs);
    for (const id of ids) this.covers.delete(id);
    this.owners[this.owners.indexOf(owner)] = await this.join();
  }

  /** Delivers what is heard of the day's events: not all, some twice, some later, in any order and at once. */
  private async hear(): Promise<void> {
    const events = this.stripe.takeEvents();
    this.figures.events += events.length;
    for (const event of events) {
      if (this.chance(0.2)) {
        this.figures.dropped++;
        continue;
      }
      for (let times = 0; times === 0 || this.chance(0.3); times++) {
        this.late.push({ event, atMs: this.nowMs + (this.chance(0.3) ? this.random() * 5 * dayMs : 0) });
      }
    }
    const due = this.late.filter(({ atMs }) => atMs <= this.nowMs).sort(() => this.random() - 0.5);
    this.late = this.late.filter(({ atMs }) => atMs > this.nowMs);
    for (let at = 0; at < due.length; at += 5) {
      await Promise.all(due.slice(at, at + 5).map(({ event }) => this.deliver(event)));
    }
  }

  private async deliver({ type, data }: Event): Promise<void> {
    const { id, payment_intent: payment } = data.object as { id: string; payment_intent: string };
    const kind = purchaseEvents[type];
    if (!kind) return;
    const purchase = kind === "payment" ? { payment } : ({ [kind]: id } as { subscription: string });
    await fulfil(this.db, purchase, type, this.nowMs);
  }

  /** Who runs unpaid beyond the grace, who paid and does not run after a day, and who was charged twice or given too much. */
  private async look() {
    const rows = await this.db
      .selectFrom("accounts")
      .select(["email", "plan", "credit_thousandths"])
      .execute();
    const byEmail = new Map(rows.map((row) => [row.email, row]));
    const found: Record<"runsUnpaid" | "paidAndStopped" | "chargedTwice" | "creditsWrong", string[]> = {
      ...{ runsUnpaid: [], paidAndStopped: [], chargedTwice: [], creditsWrong: [] },
    };
    for (const owner of this.owners) {
      const row = byEmail.get(owner.email);
      const runs = row?.plan === "licensed";
      const covers = [...this.covers.values()].filter((cover) => cover.owner === owner);
      const untilMs = Math.max(0, ...covers.map((cover) => cover.untilMs));
      const pays = untilMs > this.nowMs;
      owner.paysSinceMs = pays ? (owner.paysSinceMs ?? this.nowMs) : undefined;
      if (runs) this.figures.licensedDays++;
      else this.figures.unpaidDays++;
      const isBeyond = untilMs + (graceDays + 1) * dayMs < this.nowMs;
      if (runs && !owner.isGiven && isBeyond) found.runsUnpaid.push(owner.email);
      const hasPaid = owner.paysSinceMs !== undefined && this.nowMs - owner.paysSinceMs > dayMs;
      if (!runs && (hasPaid || owner.isGiven)) found.paidAndStopped.push(owner.email);
      if (owner.wasTwice) found.chargedTwice.push(owner.email);
      owner.wasTwice = false;
      if (Number(row?.credit_thousandths) > owner.creditsPaid + 500_000) found.creditsWrong.push(owner.email);
    }
    return found;
  }
}

type Event = ReturnType<StripeStandIn["takeEvents"]>[number];
