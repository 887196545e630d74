import { Stripe } from "stripe";
import { parseAccount } from "@/lib/accounts/account";
import { deleteAccount, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { erasePerson } from "@/lib/accounts/leaving/erasure";
import { setPlan } from "@/lib/accounts/terms/plan-changes";
import { beginCheckout } from "@/lib/billing/checkout";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { purchaseIn } from "@/lib/billing/fulfilment/events";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { reconcile } from "@/lib/billing/reconciler";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { perProcess } from "@/lib/per-process";
import { contentsOf, readPlans } from "@/lib/plans/plan";
import { type BillingPage, type Money, moneyIn, readBillingPage } from "@/tests/support/billing-page";
import type { Stage } from "@/tests/support/engines";
import { randomFrom } from "@/tests/support/purchases";
import { copyStore, replaceStore } from "@/tests/support/store-copies";
import type { Rows } from "@/tests/support/stores";
import { type Price, StripeStandIn } from "@/tests/support/stripe-stand-in";

/** When the last life ended: what a process keeps of one, by the same ids at Stripe, must be old for the next. */
let endedAtMs = Date.UTC(2026, 0, 1);

/** How often, of the days of an owner, their page is read. */
const pagesRead = 0.05;
const graceDays = 14;
const atOnce = 25; // owners of one Stripe account

type Owner = {
  email: string;
  cardFails: boolean;
  /** What Stripe does with a subscription that stays unpaid. */
  dunning: "cancel" | "unpaid" | "leave";
  /** Whether an operator gives the licence, and what they gave last. */
  isGiven: boolean;
  given: Parameters<typeof setAccount>[2] | undefined;
  actedAtMs: number;
  /** What the page said that is paid at the next renewal. */
  told: { id: string; next: Money } | undefined;
  /** What a page said that is not what Stripe charges. */
  amountsWrong: string[];
  /** Since when a licence has to run by what was paid, and since when it must not. */
  mustRunSinceMs: number | undefined;
  mayNotSinceMs: number | undefined;
  /** The checkouts of credits that were paid, or will be by a bank. */
  packs: string[];
  /** Since when the balance is another one. */
  creditsWrongSinceMs: number | undefined;
  wasTwice: boolean;
  /** Since when the limit of assistants, the price or the amount due are others than what was paid for. */
  termsWrongSinceMs: number | undefined;
  /** What happened to it, for the report of a wrong day. */
  story: string[];
};

/** Until when a subscription is paid, by what happened to it: not by what the service makes of it. */
type Cover = {
  owner: Owner;
  paidUntilMs: number;
  /** What of it comes back if a refund fails. */
  boughtUntilMs: number;
  /** The price that was paid for. */
  price: string;
  returnedAtMs: number | undefined;
  pastDueSinceMs: number | undefined;
};

/** The prices of licences, each of a product of its own, with the assistants that come with it. */
const licencePrices = {
  price_month: { currency: "eur", unit_amount: 4900, limit: 5 },
  price_more: { currency: "eur", unit_amount: 9900, limit: 10 },
  price_team: { currency: "eur", unit_amount: 99_000, limit: 25 },
  price_yen: { currency: "jpy", unit_amount: 8000, limit: 7 },
  price_forint: { currency: "huf", unit_amount: 1_999_000, limit: 8 },
  price_dinar: { currency: "kwd", unit_amount: 15_550, limit: 9 },
} as const;
type LicencePrice = keyof typeof licencePrices;

/** Each is of a plan of its own. */
const planOf = (price: string) => price.replace("_", "-");

const limitOf = (price: string) => licencePrices[price as LicencePrice].limit;

/** What a life counts of what is wrong in it: nothing. */
export const noneWrong = {
  runsUnpaid: 0,
  paidAndStopped: 0,
  chargedTwice: 0,
  creditsWrong: 0,
  termsWrong: 0,
  amountsWrong: 0,
};

/**
 * Lives years of owners day by day: they buy in four currencies, change, cancel, fail to pay and recover, leave payments
 * unfinished, get invoices by mail, are refunded, dispute, are paused in both ways, forgiven, erased and given something by
 * operators, pay at Payment Links, prices are no longer sold and sold again, the store is restored, while events are
 * dropped, repeated, late and in any order, and Stripe is away now and then. Returns what happened and what was wrong.
 *
 * @param daysOfEach - how long an owner is watched: with few days, more owners live as many years
 */
export async function liveYears(stage: Stage, years: number, seed = 1, daysOfEach = 365) {
  Error.stackTraceLimit = 0; // the Stripe library makes an error with each call
  const random = randomFrom(seed);
  Object.assign(process.env, stage.environment);
  const db = await stage.open();
  const figures = {
    years: 0,
    acts: 0,
    events: 0,
    dropped: 0,
    purchases: 0,
    licensedDays: 0,
    unpaidDays: 0,
    restores: 0,
    pages: 0,
    amounts: 0,
  };
  const wrong = { ...noneWrong };
  const examples: string[] = [];
  for (let left = Math.round((years * 365) / daysOfEach); left > 0; left -= atOnce) {
    const life = await Life.begin({ db, stage, random, figures }, Math.min(left, atOnce), endedAtMs);
    for (let day = 0; day < daysOfEach; day++) {
      const found = await life.liveDay();
      for (const [what, owners] of Object.entries(found) as [keyof typeof wrong, Owner[]][]) {
        wrong[what] += owners.length;
        for (const owner of owners) {
          if (examples.length < 5 && !examples.some((one) => one.includes(owner.email)))
            examples.push(`day ${day}: ${what}: ${owner.email}: ${await life.tell(owner)}`);
        }
      }
    }
    figures.years += (life.owners.length * daysOfEach) / 365;
    endedAtMs = await life.stop();
    await stage.query("DELETE FROM accounts");
  }
  return { ...figures, ...wrong, years: Math.round(figures.years), examples };
}

class Life {
  readonly owners: Owner[] = [];
  private readonly covers = new Map<string, Cover>();
  private sold: string[] = [];
  private late: { event: Event; atMs: number }[] = [];
  private copy: Rows[] | undefined;
  private readonly later: { atMs: number; run: () => void }[] = [];
  private made = 0;

  private constructor(
    private readonly stripe: StripeStandIn,
    private readonly db: Db,
    private readonly stage: Stage,
    private readonly random: () => number,
    private readonly figures: World["figures"],
    private nowMs: number,
  ) {}

  static async begin({ db, stage, random, figures }: World, owners: number, nowMs: number): Promise<Life> {
    const stripe = await StripeStandIn.start();
    const month = stripe.prices.get("price_month") as Price;
    for (const [id, { limit, ...price }] of Object.entries(licencePrices)) {
      // The team's is by the quarter, which begins several times in a year.
      const recurring = { ...month.recurring, interval_count: id === "price_team" ? 3 : 1 };
      const product = { ...month.product, id: `prod_${id}` };
      stripe.prices.set(id, { ...month, ...price, id, recurring, product, metadata: {} } as Price);
      await setPlan(db, planOf(id), { limits: { assistants: limit } }, {}, nowMs);
    }
    Object.assign(process.env, stripe.environment, {
      LICENCE_GRACE_DAYS: String(graceDays),
      LOG_LEVEL: "error",
    });
    process.env.STRIPE_API_URL = "http://127.0.0.1:1";
    const client = { stripe: stripe as StripeStandIn | undefined };
    const current = perProcess("stand-in of years", () => client);
    current().stripe = stripe;
    perProcess("stripe", async () => {
      const httpClient = asHttpClient(() => current().stripe as StripeStandIn);
      return new Stripe("sk_test_standin", { httpClient, telemetry: false, maxNetworkRetries: 0 });
    })();
    const life = new Life(stripe, db, stage, random, figures, nowMs);
    await life.sell(Object.keys(licencePrices));
    stripe.subscriptionUpdate.products = Object.keys(licencePrices).map((id) => ({
      product: `prod_${id}`,
      prices: [id],
    }));
    stripe.nowMs = () => life.nowMs;
    for (let n = 0; n < owners; n++) life.owners.push(await life.join());
    return life;
  }

  /** Ends it. Returns when. */
  async stop(): Promise<number> {
    await this.stripe.stop();
    return this.nowMs;
  }

  private async join(): Promise<Owner> {
    const email = `owner-${++this.made}-${Math.floor(this.random() * 1e9)}@example.com`;
    await addAccount(this.db, email, { plan: "trial", trial_ends_at_ms: this.nowMs }, this.nowMs);
    const dunning = this.oneOf(["cancel", "unpaid", "leave"] as const);
    return {
      email,
      dunning,
      cardFails: false,
      isGiven: false,
      mustRunSinceMs: undefined,
      mayNotSinceMs: undefined,
      packs: [],
      creditsWrongSinceMs: undefined,
      wasTwice: false,
      story: [],
      termsWrongSinceMs: undefined,
      given: undefined,
      told: undefined,
      amountsWrong: [],
      actedAtMs: 0,
    };
  }

  private today(): string {
    return new Date(this.nowMs).toISOString().slice(0, 13);
  }

  /** All that happened to an owner, here and by the audit. */
  async tell(owner: Owner): Promise<string> {
    const account = await this.rowOf(owner.email);
    const covers = [...this.covers].filter(([, cover]) => cover.owner === owner);
    const audit = await this.db
      .selectFrom("audit_entries")
      .selectAll()
      .where("whom", "=", owner.email)
      .orderBy("at_ms")
      .execute();
    const entries = audit.map(
      ({ at_ms, what, after }) => `${new Date(at_ms).toISOString()} ${what} ${after}`,
    );
    const subscriptions = await this.db
      .selectFrom("billing_subscriptions")
      .selectAll()
      .where("account_id", "=", account?.id ?? "")
      .execute();
    const checkouts = await this.db
      .selectFrom("billing_checkouts")
      .selectAll()
      .where("account_id", "=", account?.id ?? "")
      .execute();
    const rows = [
      account,
      ...subscriptions,
      ...checkouts,
      ...covers.map(([id, { owner: _, ...cover }]) => ({ id, ...cover })),
    ];
    return [...owner.story, ...entries, ...rows.map((row) => JSON.stringify(row)), this.today()].join("\n  ");
  }

  private oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  private chance(part: number): boolean {
    return this.random() < part;
  }

  /** A day: what Stripe does, what people do, what of it is heard, a round of the reconciler, and what is wrong then. */
  async liveDay() {
    this.nowMs += dayMs;
    for (const { run } of this.later
      .splice(0)
      .filter((one) => one.atMs <= this.nowMs || !this.later.push(one)))
      run();
    this.passAtStripe();
    if (this.chance(0.02)) await this.switchSales();
    const isAway = this.chance(0.1);
    if (isAway) this.stripe.faultOf = () => this.oneOf(["none", "none", "500", "done500"]);
    for (const owner of [...this.owners]) if (this.chance(0.1)) await this.act(owner);
    await this.hear();
    await reconcile(this.db, this.nowMs);
    this.stripe.faultOf = () => "none";
    this.nowMs += 600_000;
    if (isAway) {
      await this.hear();
      await reconcile(this.db, this.nowMs);
    }
    const found = await this.look();
    if (this.chance(0.03)) this.copy = await copyStore(this.stage);
    if (this.copy && this.chance(0.02)) await this.restore(this.copy);
    return found;
  }

  /** The operator sells these prices, and no others. */
  private async sell(prices: string[]): Promise<void> {
    this.sold = prices;
    for (const id of Object.keys(licencePrices))
      await setPlan(this.db, planOf(id), { prices: prices.includes(id) ? [id] : [] }, {}, this.nowMs);
  }

  /** The store is replaced by an earlier copy, read at Stripe once, and the operator does again what they did since. */
  private async restore(copy: Rows[]): Promise<void> {
    this.figures.restores++;
    for (const { story } of this.owners) story.push(`${this.today()} a restore`);
    await replaceStore(this.stage, copy);
    await this.sell(this.sold);
    await reconcile(this.db, this.nowMs, { isRestored: true });
    const emails = this.owners.map(({ email }) => email);
    const gone = await this.db
      .selectFrom("accounts")
      .select("email")
      .where("email", "not in", emails)
      .execute();
    for (const { email } of gone) await deleteAccount(this.db, email, "operator", this.nowMs);
    for (const { email, given } of this.owners) {
      const terms = { plan: "trial", trial_ends_at_ms: this.nowMs } as const;
      if (!(await this.rowOf(email))) await addAccount(this.db, email, terms, this.nowMs);
      if (given) await setAccount(this.db, email, given, this.nowMs);
    }
    await this.refundUnnamed();
    await reconcile(this.db, this.nowMs);
  }

  private subscriptionsOf({ email }: Owner) {
    const ids = this.customersOf(email);
    return [...this.stripe.subscriptions.values()].filter(
      ({ customer, status }) =>
        ids.includes(String(customer)) && status !== "canceled" && status !== "incomplete_expired",
    );
  }

  /** Those that the service made, and those of Payment Links. */
  private customersOf(address: string): string[] {
    const customers = [...this.stripe.customers.values()];
    return customers.flatMap(({ id, email, metadata }) => ((metadata.email ?? email) === address ? id : []));
  }

  /** The operator takes prices out of their plans, or puts them back. */
  private async switchSales(): Promise<void> {
    const kept = Object.keys(licencePrices).filter((id) => id === "price_month" || this.chance(0.7));
    await this.sell(kept);
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
    for (const { id, status, created } of this.stripe.sessions.values())
      if (status === "open" && created * 1000 <= this.nowMs - dayMs)
        this.stripe.answer("POST", `/v1/checkout/sessions/${id}/expire`, new URLSearchParams());
    for (const [id, cover] of this.covers) {
      const subscription = this.stripe.subscriptions.get(id);
      if (!subscription || ["canceled", "incomplete_expired"].includes(subscription.status)) continue;
      const isCancelled = subscription.cancel_at_period_end && this.periodEndMs(id) <= this.nowMs;
      if (subscription.status === "paused") {
        if (isCancelled) this.stripe.end(id);
        continue;
      }
      const { owner } = cover;
      if (subscription.status === "incomplete") {
        if (this.nowMs - subscription.created * 1000 >= dayMs) this.stripe.expireUnfinished(id);
        continue;
      }
      const dueMs = this.dueMsOf(id);
      if (subscription.status === "active" && dueMs !== undefined && dueMs <= this.nowMs) {
        cover.pastDueSinceMs ??= dueMs;
        this.stripe.change(id, { status: "past_due" });
      }
      if (this.periodEndMs(id) <= this.nowMs) {
        if (isCancelled) {
          this.stripe.end(id);
          continue;
        }
        const isByMail = subscription.collection_method === "send_invoice";
        this.stripe.renew(id, { isPaid: !owner.cardFails && !isByMail });
        this.compareRenewal(owner, id);
        // A paused collection forgives its own invoice, not an earlier one.
        if (isByMail && this.dueMsOf(id) !== undefined) this.noteInvoice(id);
        else this.note(id, this.stripe.subscriptions.get(id)?.status === "active");
      }
      const since = cover.pastDueSinceMs;
      if (since !== undefined && this.nowMs - since > 21 * dayMs && subscription.status === "past_due") {
        if (owner.dunning === "cancel") this.stripe.end(id);
        if (owner.dunning === "unpaid") this.stripe.change(id, { status: "unpaid" });
      }
    }
  }

  /** The open invoices of a subscription since one was paid, newest first. */
  private openOf(id: string) {
    const newestFirst = [...this.stripe.invoices.values()]
      .filter(({ parent }) => parent?.subscription_details.subscription === id)
      .reverse();
    const paid = newestFirst.findIndex(({ status }) => status === "paid");
    return newestFirst.slice(0, paid < 0 ? undefined : paid).filter(({ status }) => status === "open");
  }

  /** When the oldest open invoice that came by mail is due. */
  private dueMsOf(id: string): number | undefined {
    const dates = this.openOf(id).flatMap(({ due_date }) => due_date ?? []);
    return dates.length > 0 ? Math.min(...dates) * 1000 : undefined;
  }

  /** A period for which an invoice came by mail: it runs on trust until that is due, and what it contains is given. */
  private noteInvoice(id: string): void {
    const cover = this.coverOf(id);
    const dueMs = this.dueMsOf(id) ?? this.periodEndMs(id);
    if (dueMs > this.nowMs) {
      cover.price = this.stripe.itemOf(id).price.id;
      cover.returnedAtMs = undefined;
    }
    cover.paidUntilMs = cover.boughtUntilMs = dueMs;
  }

  private note(id: string, isPaid: boolean): void {
    const cover = this.coverOf(id);
    if (!isPaid) {
      cover.pastDueSinceMs ??= this.nowMs;
      // No one may have heard of it yet.
      if (this.nowMs - (cover.returnedAtMs ?? 0) <= dayMs) cover.returnedAtMs = undefined;
    } else {
      cover.paidUntilMs = cover.boughtUntilMs = this.periodEndMs(id);
      cover.price = this.stripe.itemOf(id).price.id;
      cover.pastDueSinceMs = undefined;
      this.settleCover(id);
    }
  }

  /** One random act of an owner, of their bank or of an operator. */
  private async act(owner: Owner): Promise<void> {
    this.figures.acts++;
    owner.actedAtMs = this.nowMs;
    owner.told = undefined;
    const [subscription] = this.subscriptionsOf(owner);
    const id = subscription?.id;
    const isActive = subscription?.status === "active";
    const isByMail = subscription?.collection_method === "send_invoice";
    const item = subscription?.items.data[0];
    const acts: Record<string, () => unknown> = {
      buy: () => this.buy(owner),
      buyAgain: () => this.buy(owner),
      buyCredits: () => this.buyCredits(owner),
      operate: () => this.operate(owner),
      leave: () => this.leave(owner),
      payLink: () => this.payLink(owner, id),
      changeCard: () => {
        owner.cardFails = !owner.cardFails;
      },
    };
    if (id && item && isActive) {
      const ofCurrency = Object.entries(licencePrices).filter(
        ([, one]) => one.currency === item.price.currency,
      );
      const others = ofCurrency.flatMap(([price]) => (price === item.price.id ? [] : price));
      if (others.length > 0 && !isByMail)
        Object.assign(acts, {
          switch: () => this.switch(owner, id, this.oneOf(others)),
          switchAgain: () => this.switch(owner, id, this.oneOf(others)),
        });
      Object.assign(acts, {
        stop: () => this.stripe.pause(id),
        cancel: () => this.stripe.cancelAtPeriodEnd(id),
        keep: () => this.stripe.change(id, { cancel_at_period_end: false, cancel_at: null }),
        end: () => this.stripe.end(id),
        returnMoney: () => this.returnMoney(id),
        returnMore: () => this.returnMoney(id),
        pause: () => this.stripe.change(id, { pause_collection: { behavior: "void", resumes_at: null } }),
        resume: () => this.stripe.change(id, { pause_collection: null }),
        deleteAtStripe: () => this.deleteAtStripe(owner),
      });
    }
    if (!id) Object.assign(acts, { begin: () => this.beginElsewhere(owner) });
    if (id && subscription?.status === "paused")
      Object.assign(acts, { goOn: () => this.goOn(owner, id), goOnAgain: () => this.goOn(owner, id) });
    else if (id && (!isActive || (isByMail && this.dueMsOf(id) !== undefined)))
      Object.assign(acts, {
        pay: () => this.recover(owner, id),
        payAgain: () => this.recover(owner, id),
        payNewest: () => this.payNewest(id),
      });
    if (id && (subscription?.status === "past_due" || subscription?.status === "unpaid"))
      Object.assign(acts, { forgive: () => this.forgive(id) });
    const [name, act] = this.oneOf(Object.entries(acts));
    owner.story.push(`${this.today()} ${name} of ${id} (${subscription?.status})`);
    await act();
  }

  private async buy(owner: Owner): Promise<void> {
    const tabs = this.chance(0.3) ? 2 : 1;
    const price = () => this.oneOf(Object.keys(licencePrices));
    const addresses = await Promise.all(
      Array.from({ length: tabs }, () => this.begin(owner, "licence", price())),
    );
    for (const address of addresses) {
      const session = this.openSession(address);
      if (session) {
        this.stripe.pay(session);
        this.figures.purchases++;
        const id = String(this.stripe.sessions.get(session)?.subscription);
        this.cover(owner, id);
        this.note(id, true);
        if (this.subscriptionsOf(owner).length > 1) owner.wasTwice = true;
      } else if (address?.includes("/portal/") && this.chance(0.5)) {
        for (const { id, status } of this.subscriptionsOf(owner))
          if (status === "past_due" || status === "unpaid") this.recover(owner, id);
      }
    }
  }

  /** Pays at a Payment Link: for credits, or for a licence without having one. */
  private payLink(owner: Owner, live: string | undefined): void {
    this.figures.purchases++;
    if (live) {
      owner.packs.push(this.stripe.payLink(owner.email.toUpperCase(), "price_pack", 2));
      return;
    }
    const session = this.stripe.payLink(owner.email, this.oneOf(settings().billing?.licencePrices ?? []));
    const id = String(this.stripe.sessions.get(session)?.subscription);
    this.cover(owner, id);
    this.note(id, true);
  }

  /** An operator voids what is open: a period is as paid, and what a change would have given is not. */
  private forgive(id: string): void {
    const latest = this.stripe.invoices.get(this.stripe.subscriptions.get(id)?.latest_invoice ?? "");
    this.stripe.voidOpen(id);
    if (latest?.billing_reason === "subscription_update") this.coverOf(id).pastDueSinceMs = undefined;
    else this.note(id, true);
  }

  private cover(owner: Owner, id: string): void {
    const cover = { owner, paidUntilMs: 0, boughtUntilMs: 0, returnedAtMs: undefined, price: "" };
    this.covers.set(id, { ...cover, pastDueSinceMs: undefined });
  }

  /** A subscription that was made in the dashboard: with an invoice by mail, or with a first payment that is not finished. */
  private async beginElsewhere(owner: Owner): Promise<void> {
    const account = await this.rowOf(owner.email);
    const [customer] = this.customersOf(owner.email);
    if (!customer || !account) return;
    const how = this.chance(0.5) ? { isIncomplete: true } : { daysUntilDue: this.oneOf([7, 30, 45]) };
    const price = this.oneOf(settings().billing?.licencePrices ?? []);
    const id = this.stripe.makeSubscription(customer, price, { account: account.id }, how);
    this.cover(owner, id);
    if (!how.isIncomplete) this.noteInvoice(id);
    else if (this.chance(0.5)) this.after(0.5, () => this.finish(owner, id));
  }

  private finish(owner: Owner, id: string): void {
    if (this.stripe.subscriptions.get(id)?.status === "incomplete") this.recover(owner, id);
  }

  /** A subscription that was paused goes on: in its period, or with one that begins now, once that is paid. */
  private goOn({ cardFails }: Owner, id: string): void {
    const isOver = this.periodEndMs(id) <= this.nowMs;
    if (isOver && cardFails) return;
    this.stripe.resume(id);
    if (isOver) this.note(id, true);
  }

  private openSession(address: string | undefined): string | undefined {
    const session = /\/pay\/(cs_\w+)/.exec(address ?? "")?.[1];
    return session && this.stripe.sessions.get(session)?.status === "open" ? session : undefined;
  }

  private async begin({ email }: Owner, kind: "licence" | "credits", price: string) {
    const row = await this.rowOf(email);
    const account = parseAccount(row, this.nowMs);
    if (!account) throw new Error(`no account ${email}`);
    return beginCheckout(this.db, account, { kind, priceId: price }, this.nowMs).catch((refusal) => {
      if (["paid_only", "checkout_failed", "portal_failed", "invalid_request"].includes(refusal.code))
        return undefined;
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
    owner.packs.push(session);
    if (byBank) this.after(this.random() * 10, () => this.stripe.settleAtBank(session, this.chance(0.8)));
    if (!this.chance(0.3)) return;
    this.after(15, () => {
      if (this.paidIn(session) === 0) return;
      this.stripe.refund(session, 500);
      if (this.chance(0.3)) this.after(5, () => this.failRefund(session));
    });
  }

  /** What was paid for credits and not refunded, in thousandths of a credit: two for a cent. */
  private paidIn(session: string): number {
    const { mode, payment_status } = this.stripe.sessions.get(session) ?? {};
    if (mode !== "payment" || payment_status !== "paid") return 0;
    const { amount, amount_refunded } = this.stripe.chargeOf(session);
    return (amount - amount_refunded) * 500;
  }

  private failRefund(session: string): void {
    if (this.paidIn(session) > 0) this.stripe.failRefund(this.stripe.chargeOf(session));
  }

  /**
   * Credits of a customer whom an operator deleted at Stripe, and of an account that the restored store does not have: nothing
   * says any more whose they are. The audit names their checkout, and the operator refunds it.
   */
  private async refundUnnamed(): Promise<void> {
    const audit = this.db.selectFrom("audit_entries").select("whom");
    for (const { whom } of await audit.where("what", "=", "purchase without account").execute())
      if (whom && this.paidIn(whom) > 0) this.stripe.refundCharge(this.stripe.chargeOf(whom));
  }

  private after(days: number, run: () => void): void {
    this.later.push({ atMs: this.nowMs + days * dayMs, run });
  }

  /** Switches the price, which is paid or not: then what was paid before runs to its end. */
  private async switch(owner: Owner, id: string, price: string): Promise<void> {
    const said = (await this.readPage(owner, price))?.change;
    this.stripe.switchPrice(id, price, { isPaid: !owner.cardFails });
    if (said) this.compare(owner, "change", said, this.chargedFor(id));
    this.note(id, this.stripe.subscriptions.get(id)?.status === "active");
  }

  private recover(owner: Owner, id: string): void {
    owner.cardFails = false;
    this.stripe.payOpen(id);
    this.note(id, true);
  }

  /** Only the newest invoice is paid, by which Stripe calls the subscription active: older ones stay open. */
  private payNewest(id: string): void {
    const [newest] = this.openOf(id);
    if (!newest || newest.id !== this.stripe.subscriptions.get(id)?.latest_invoice) return;
    this.stripe.payInvoice(newest, newest.amount_remaining);
    this.stripe.change(id, { status: "active" });
    this.note(id, true);
  }

  /** What was paid for a subscription's current period. */
  private chargesOf(id: string) {
    const intents = this.invoicesOf(id).flatMap((invoice) => invoice.intents);
    return [...this.stripe.charges.values()].filter(({ payment_intent }) => intents.includes(payment_intent));
  }

  /** The paid invoices since the current period's start. */
  private invoicesOf(id: string) {
    const start = this.stripe.subscriptions.get(id)?.items.data[0]?.current_period_start ?? 0;
    return [...this.stripe.invoices.values()].filter(
      ({ parent, created, status }) =>
        parent?.subscription_details.subscription === id && created >= start && status === "paid",
    );
  }

  /** A period of which all was returned is not paid; if a refund fails, it is again. */
  private settleCover(id: string): void {
    const cover = this.coverOf(id);
    const isLost = ({ id: charge }: { id: string }) =>
      [...this.stripe.disputes.values()].some((one) => one.charge === charge && one.status === "lost");
    const charges = this.chargesOf(id);
    const isReturned =
      charges.length > 0 &&
      charges.every((charge) => charge.refunded || isLost(charge)) &&
      this.invoicesOf(id).every(({ total, amount_paid }) => amount_paid >= total);
    cover.returnedAtMs = isReturned ? (cover.returnedAtMs ?? this.nowMs) : undefined;
    cover.paidUntilMs = isReturned ? Math.min(cover.paidUntilMs, this.nowMs) : cover.boughtUntilMs;
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
    const assistant_limit = this.oneOf([null, 3, 50]);
    const trial_ends_at_ms = plan === "trial" ? this.nowMs - 1 : undefined;
    owner.given = { plan, assistant_limit, trial_ends_at_ms };
    await setAccount(this.db, owner.email, owner.given, this.nowMs);
    owner.isGiven = plan === "licensed";
  }

  private deleteAtStripe({ email }: Owner): void {
    for (const id of this.customersOf(email)) this.stripe.deleteCustomer(id);
  }

  /** The account is deleted, and someone else comes. */
  private async leave(owner: Owner): Promise<unknown> {
    if (!this.chance(0.2)) return;
    const ids = this.subscriptionsOf(owner).map(({ id }) => id);
    try {
      await deleteCustomer(this.db, "email", owner.email, this.nowMs);
    } catch {
      return owner.story.push("could not leave");
    }
    if (this.chance(0.5)) await deleteAccount(this.db, owner.email, "operator", this.nowMs);
    else await erasePerson(this.db, owner.email, "operator", this.nowMs);
    for (const id of ids) this.covers.delete(id);
    this.owners[this.owners.indexOf(owner)] = await this.join();
    return undefined;
  }

  /** Delivers what is heard of the day's events: not all, some twice, some later, in any order and at once. */
  private async hear(): Promise<void> {
    const events = this.stripe.takeEvents();
    this.figures.events += events.length;
    for (const event of events) {
      // What the dashboard made is known by its event only, which Stripe repeats for days.
      const isOnlyWord = event.type === "customer.subscription.created";
      if (this.chance(0.2) && !isOnlyWord) {
        this.figures.dropped++;
        continue;
      }
      for (let times = 0; times === 0 || this.chance(0.3); times++) {
        const isLate = this.chance(0.3) && !isOnlyWord;
        this.late.push({ event, atMs: this.nowMs + (isLate ? this.random() * 5 * dayMs : 0) });
      }
    }
    const due = this.late.filter(({ atMs }) => atMs <= this.nowMs).sort(() => this.random() - 0.5);
    this.late = this.late.filter(({ atMs }) => atMs > this.nowMs);
    for (let at = 0; at < due.length; at += 5) {
      await Promise.all(due.slice(at, at + 5).map(({ event }) => this.deliver(event)));
    }
  }

  private async deliver(event: Event): Promise<void> {
    const purchase = purchaseIn(event);
    if (!purchase) return;
    // Stripe repeats what failed.
    await fulfil(this.db, purchase, event.type, this.nowMs).catch(() =>
      this.late.push({ event, atMs: this.nowMs + 1 }),
    );
  }

  /** Whether a licence has to run by what was paid, and whether it may, by an operator's gift or in the days of grace. */
  private entitlementOf(owner: Owner): { must: boolean; may: boolean } {
    const entitlement = { must: owner.isGiven, may: owner.isGiven };
    for (const { id, status } of this.subscriptionsOf(owner)) {
      const { returnedAtMs, paidUntilMs } = this.coverOf(id);
      const graceMs = status === "unpaid" || status === "paused" ? 0 : graceDays * dayMs;
      entitlement.must ||= paidUntilMs > this.nowMs && status !== "incomplete";
      entitlement.may ||= !returnedAtMs && paidUntilMs + graceMs > this.nowMs;
    }
    return entitlement;
  }

  /** The price and the limit of assistants that were paid for, and what is due, are those that the service has. */
  private hasRightTerms(owner: Owner, limit: number | null | undefined, rows: Map<string, Subscription>) {
    const paid = this.subscriptionsOf(owner).filter(({ id, status }) => {
      const { paidUntilMs, returnedAtMs } = this.coverOf(id);
      return paidUntilMs > this.nowMs && !returnedAtMs && status !== "incomplete";
    });
    if (paid.length === 0) return true;
    const most = Math.max(...paid.map(({ id }) => limitOf(this.coverOf(id).price)));
    if (!owner.isGiven && limit !== null && (limit ?? 0) < most) return false;
    return paid.every(({ id, latest_invoice }) => {
      const row = rows.get(id);
      const invoice = this.stripe.invoices.get(latest_invoice ?? "");
      return (
        row?.price_id === this.coverOf(id).price &&
        row.assistant_limit === null &&
        row.amount_due === this.dueOf(id) &&
        row.currency === invoice?.currency
      );
    });
  }

  /** What is due of a subscription's open invoices since one was paid; of one that is charged and active, of the latest. */
  private dueOf(id: string): number {
    const { latest_invoice, status, collection_method } = this.stripe.subscriptions.get(id) ?? {};
    const isActive = status === "active" && collection_method !== "send_invoice";
    const open = this.openOf(id).filter((one) => !isActive || one.id === latest_invoice);
    return open.reduce((sum, { amount_remaining }) => sum + amount_remaining, 0);
  }

  /** What an owner's page says of money; `undefined` without an account. */
  private async readPage({ email }: Owner, change?: string): Promise<BillingPage | undefined> {
    const account = parseAccount(await this.rowOf(email), this.nowMs);
    if (account) this.figures.pages++;
    return account && readBillingPage(this.db, account, this.nowMs, change);
  }

  /** Compares what an owner's page says of money with what Stripe has, and keeps what it says of the next payment. */
  private async lookAtPage(owner: Owner): Promise<void> {
    const page = await this.readPage(owner);
    if (!page) return;
    const [subscription, another] = this.subscriptionsOf(owner);
    owner.told = undefined;
    if (subscription && !another) {
      const { id } = subscription;
      if (page.next) owner.told = { id, next: page.next };
      if (page.due)
        this.compare(owner, "due", page.due, {
          amount: this.dueOf(id),
          currency: subscription.currency,
        });
      for (const [price, said] of page.changes)
        this.compare(owner, `to ${price}`, said, costOf(price, subscription.currency));
    }
    for (const [price, said] of page.offers) this.compare(owner, price, said, costOf(price));
    const account = await this.rowOf(owner.email);
    const customers = this.db.selectFrom("billing_customers").select("customer_id");
    const kept = await customers.where("account_id", "=", account?.id ?? "").executeTakeFirst();
    const sent = [...this.stripe.invoices.values()]
      .filter(({ customer, status }) => customer === kept?.customer_id && status !== "draft")
      .reverse();
    for (const [at, { state, total }] of page.invoices.entries()) {
      const invoice = sent[at];
      const says = `${state} of invoice ${invoice?.id} (${invoice?.status})`;
      this.compare(owner, says, total, invoice && { ...invoice, amount: invoice.total });
      const isOpen = invoice?.status === "open";
      if (isOpen || state.startsWith("Unpaid"))
        this.compare(
          owner,
          says,
          state === "Unpaid" ? total : moneyIn(state),
          invoice && { ...invoice, amount: invoice.amount_remaining },
        );
    }
  }

  private compareRenewal(owner: Owner, id: string): void {
    const { told } = owner;
    owner.told = undefined;
    if (told?.id === id) this.compare(owner, "renewal", told.next, this.chargedFor(id));
  }

  /** What the latest invoice of a subscription has charged, or asks for. */
  private chargedFor(id: string): Money | undefined {
    const invoice = this.stripe.invoices.get(this.stripe.subscriptions.get(id)?.latest_invoice ?? "");
    return invoice && { amount: invoice.amount_paid + invoice.amount_remaining, currency: invoice.currency };
  }

  private compare(owner: Owner, what: string, said: Money | undefined, is: Money | undefined): void {
    this.figures.amounts++;
    const isSame = said?.amount === is?.amount && (said?.amount === 0 || said?.currency === is?.currency);
    if (isSame) return;
    owner.amountsWrong.push(what);
    owner.story.push(`${this.today()} the page says of ${what} ${JSON.stringify([said, is])}`);
  }

  /**
   * Who runs unpaid beyond the grace, who paid and does not run after a day, who was charged twice, and whose credits are
   * others after a day.
   */
  private async look() {
    const rows = await this.db.selectFrom("accounts").selectAll().execute();
    const plans = await readPlans(this.db);
    const byEmail = new Map(rows.map((row) => [row.email, row]));
    const found = {
      runsUnpaid: [] as Owner[],
      paidAndStopped: [] as Owner[],
      chargedTwice: [] as Owner[],
      creditsWrong: [] as Owner[],
      termsWrong: [] as Owner[],
      amountsWrong: [] as Owner[],
    };
    const subscriptions = await this.db.selectFrom("billing_subscriptions").selectAll().execute();
    const byId = new Map(subscriptions.map((one) => [one.id, one]));
    for (const owner of this.owners) {
      const row = byEmail.get(owner.email);
      const runs = row?.plan === "licensed";
      const { must, may } = this.entitlementOf(owner);
      owner.mustRunSinceMs = must ? (owner.mustRunSinceMs ?? this.nowMs) : undefined;
      owner.mayNotSinceMs = may ? undefined : (owner.mayNotSinceMs ?? this.nowMs);
      if (runs) this.figures.licensedDays++;
      else this.figures.unpaidDays++;
      const isOver = (sinceMs = this.nowMs) => this.nowMs - sinceMs > dayMs;
      if (runs && isOver(owner.mayNotSinceMs)) found.runsUnpaid.push(owner);
      if (!runs && (isOver(owner.mustRunSinceMs) || owner.isGiven)) found.paidAndStopped.push(owner);
      if (owner.wasTwice) found.chargedTwice.push(owner);
      owner.wasTwice = false;
      const paid = owner.packs.reduce((sum, session) => sum + this.paidIn(session), 0);
      const hasPaidCredits = Number(row?.credit_thousandths) === paid;
      owner.creditsWrongSinceMs = hasPaidCredits ? undefined : (owner.creditsWrongSinceMs ?? this.nowMs);
      if (isOver(owner.creditsWrongSinceMs)) found.creditsWrong.push(owner);
      const limit = row && (contentsOf(row, plans)?.limits.assistants ?? null);
      const hasRightTerms = this.hasRightTerms(owner, limit, byId);
      owner.termsWrongSinceMs = hasRightTerms ? undefined : (owner.termsWrongSinceMs ?? this.nowMs);
      if (isOver(owner.termsWrongSinceMs)) found.termsWrong.push(owner);
      const isRenewed = this.subscriptionsOf(owner).some(
        ({ id }) => this.periodEndMs(id) < this.nowMs + dayMs,
      );
      // What was done today may not have been heard of.
      const isQuiet = this.nowMs - owner.actedAtMs > dayMs / 2;
      if (isQuiet && (isRenewed || this.chance(pagesRead))) await this.lookAtPage(owner);
      if (owner.amountsWrong.splice(0).length > 0) found.amountsWrong.push(owner);
    }
    return found;
  }
}

/** What a price costs at Stripe, where it is sold in this currency. */
function costOf(id: string, currency?: string): Money | undefined {
  if (id === "price_pack") return { amount: 1000, currency: "eur" };
  const { unit_amount, ...price } = licencePrices[id as LicencePrice];
  return currency && currency !== price.currency
    ? undefined
    : { amount: unit_amount, currency: price.currency };
}

type Subscription = Tables["billing_subscriptions"];

/** What the owners of one Stripe account live in. */
type World = {
  db: Db;
  stage: Stage;
  random: () => number;
  figures: Record<
    | ("acts" | "events" | "dropped" | "purchases" | "licensedDays" | "unpaidDays")
    | ("restores" | "pages" | "amounts"),
    number
  >;
};

type Event = ReturnType<StripeStandIn["takeEvents"]>[number];

/** Asks a fake Stripe without a connection. */
export function asHttpClient(stripe: () => StripeStandIn) {
  return {
    getClientName: () => "in process",
    async makeRequest(...[, , path, method, headers, body]: Parameters<Stripe.HttpClient["makeRequest"]>) {
      const key = Object.entries(headers).find(([name]) => name.toLowerCase() === "idempotency-key")?.[1];
      const reply = await stripe().ask(method, path, body ?? "", key ? String(key) : undefined);
      return {
        getStatusCode: () => reply.status,
        getHeaders: () => ({}),
        getRawResponse: () => reply,
        toStream: () => reply,
        toJSON: async () => structuredClone(reply.body),
      };
    },
  };
}
