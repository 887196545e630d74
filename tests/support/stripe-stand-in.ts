import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Stripe } from "stripe";
import { type Loopback, serve } from "@/tests/support/loopback";
import type { Answer, Environment, Service } from "@/tests/support/service";

/**
 * How it handles a request. `lost` carries it out and drops the connection, `late` answers after the service's deadline,
 * `silent` never answers, `done500` carries it out and answers 500.
 */
export type Fault = "none" | "400" | "429" | "500" | "401" | "late" | "silent" | "done500" | "reset" | "lost";

type Session = Pick<
  Stripe.Checkout.Session,
  "id" | "object" | "mode" | "status" | "payment_status" | "url" | "customer" | "subscription" | "metadata"
> &
  Pick<Stripe.Checkout.Session, "payment_intent" | "created" | "success_url" | "cancel_url"> &
  Pick<Stripe.Checkout.Session, "amount_total" | "currency" | "payment_link"> & {
    customer_details: Pick<Stripe.Checkout.Session.CustomerDetails, "email"> | null;
    /** What it was made with. */
    asked: Record<string, string>;
  };
type Item = Pick<
  Stripe.SubscriptionItem,
  "id" | "price" | "quantity" | "current_period_start" | "current_period_end"
>;
type Subscription = Pick<
  Stripe.Subscription,
  | "id"
  | "object"
  | "status"
  | "created"
  | "customer"
  | "cancel_at"
  | "cancel_at_period_end"
  | "ended_at"
  | "metadata"
  | "pause_collection"
  | "presentment_details"
  | "currency"
  | "collection_method"
  | "days_until_due"
  | "trial_end"
  | "billing_cycle_anchor"
  | "trial_settings"
  | "status_details"
  | "schedule"
> & { items: { data: Item[] }; latest_invoice: string | null; automatic_tax: { enabled: boolean } };
type Line = Pick<Stripe.InvoiceLineItem, "amount" | "quantity" | "period"> & {
  pricing: { price_details: { price: string } };
};
type Invoice = Pick<
  Stripe.Invoice,
  | "id"
  | "object"
  | "status"
  | "billing_reason"
  | "created"
  | "currency"
  | "total"
  | "amount_paid"
  | "amount_remaining"
  | "due_date"
  | "next_payment_attempt"
  | "hosted_invoice_url"
  | "invoice_pdf"
> & { lines: { data: Line[] } } & {
  customer: string;
  /** Null for the invoice of a checkout. */
  parent: { subscription_details: { subscription: string } } | null;
  intents: string[];
  metadata?: Record<string, string>;
  attempted?: boolean;
  automatic_tax?: { enabled: boolean };
};
/** What a bank says to a card while its owner is away. */
type CardAnswer = "paid" | "declined" | "confirmation" | "action" | "processing";
type Charge = Pick<
  Stripe.Charge,
  "id" | "object" | "amount" | "amount_refunded" | "refunded" | "disputed" | "created" | "status" | "currency"
> & { customer: string | null; payment_intent: string };
type Refund = Pick<Stripe.Refund, "id" | "object" | "amount" | "created" | "status"> & {
  charge: string;
  payment_intent: string;
};
type Intent = Pick<Stripe.PaymentIntent, "id" | "object" | "status"> & { latest_charge: Charge | null };
type Dispute = Pick<Stripe.Dispute, "id" | "object" | "status" | "amount" | "created"> & {
  charge: string;
  payment_intent: string;
  payment_method_details?: { card: { case_type: "block" | "resolution" } };
};
type Customer = Pick<Stripe.Customer, "id" | "object" | "email" | "created"> & {
  metadata: Record<string, string>;
  /** Our account's id. */
  account: string;
};
type TaxBehavior = "inclusive" | "exclusive" | "unspecified";
export type Price = Pick<
  Stripe.Price,
  | "id"
  | "object"
  | "active"
  | "type"
  | "currency"
  | "unit_amount"
  | "recurring"
  | "metadata"
  | "nickname"
  | "created"
> & {
  product: Pick<Stripe.Product, "id" | "object" | "name">;
  tax_behavior?: TaxBehavior;
  /** By currency: a price may have others than its own. */
  currency_options?: Record<string, { unit_amount: number; tax_behavior?: TaxBehavior }>;
};
type Endpoint = Pick<Stripe.WebhookEndpoint, "id" | "object" | "url" | "status" | "enabled_events">;
type Event = Pick<Stripe.Event, "id" | "object" | "type" | "created"> & { data: { object: object } };

const secret = "whsec_standin";
const daySeconds = 24 * 60 * 60;
const secondsOf = { day: daySeconds, week: 7 * daySeconds, month: 30 * daySeconds, year: 365 * daySeconds };

const recurring = { interval: "month", interval_count: 1 } as Stripe.Price.Recurring;
const product = { id: "prod_1", object: "product", name: "Office licence" } as const;
const created = Date.UTC(2025, 0, 1) / 1000;
const price = { object: "price", active: true, currency: "eur", nickname: null, product, created } as const;

/**
 * A fake Stripe account on loopback: its API as far as the service uses it, typed by Stripe's own types, its Checkout and
 * portal as small pages, and its webhook deliveries. A test decides when time passes and when an event arrives.
 */
export class StripeStandIn {
  /** Every request to the API, for example `POST /v1/customers`. */
  readonly requests: string[] = [];
  readonly customers = new Map<string, Customer>();
  /** Customers that were deleted: Stripe still names them, and its Search may find them as they were. */
  readonly deleted = new Map<string, Customer>();
  /** Whether months and years are those of the calendar, and not 30 and 365 days. */
  isByCalendar = false;
  /** How old a customer is when Search finds it. */
  searchDelayMs = 60_000;
  /** What a customer has paid too much, by a switch to a shorter period: later invoices are paid from it. */
  readonly credits = new Map<string, number>();
  /** The saved cards of customers, and what banks say to a payment with one. */
  readonly cards = new Map<
    string,
    { id: string; answer: CardAnswer; isDefault: boolean; isByLink?: boolean }
  >();
  /** Payments by invoice that did not succeed at once. */
  readonly intents = new Map<string, { status: string; code: string | null }>();
  /** Payments that Stripe names by their charge alone, as those of its old API. */
  readonly bareCharges = new Set<string>();
  readonly sessions = new Map<string, Session>();
  readonly subscriptions = new Map<string, Subscription>();
  /** What subscriptions change to on a day. */
  readonly schedules = new Map<string, Pick<Stripe.SubscriptionSchedule, "id" | "object" | "phases">>();
  readonly invoices = new Map<string, Invoice>();
  readonly charges = new Map<string, Charge>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  /** The coupons of customers: how much of each invoice they take off, in per cent. */
  readonly percentsOff = new Map<string, number>();
  /** Of automatic tax, and whether it is added to prices that do not say so. */
  tax: { percent: number; behavior: "inclusive" | "exclusive" | "inferred_by_currency" } = {
    percent: 20,
    behavior: "inferred_by_currency",
  };
  /** The tax that the preview of a change adds. */
  taxOfChange = 0;
  /** What the portal lets customers change. */
  readonly subscriptionUpdate = {
    enabled: true,
    default_allowed_updates: ["price"],
    products: [{ product: "prod_1", prices: ["price_month", "price_team"] }],
    proration_behavior: "always_invoice",
    billing_cycle_anchor: "unchanged",
    schedule_at_period_end: { conditions: [] as { type: string }[] },
  };
  /** The configurations of the portal, of which one is the default. */
  portals = [
    {
      id: "bpc_1",
      object: "billing_portal.configuration",
      active: true,
      is_default: true,
      features: { subscription_update: this.subscriptionUpdate },
    },
  ];
  taxStatus = "active";
  /** How far Stripe's clock is ahead of the service's. */
  clockSkewMs = 0;
  /** The requests that a restricted key may not make. */
  forbids: (request: string) => boolean = () => false;
  /** Answers as another Stripe account does, that knows none of our objects. */
  isAnother = false;
  readonly prices = new Map<string, Price>(
    [
      { ...price, id: "price_month", type: "recurring", unit_amount: 4900, recurring, metadata: {} } as const,
      // Dearer than what the environment names, of the same product.
      { ...price, id: "price_more", type: "recurring", unit_amount: 9900, recurring, metadata: {} } as const,
      {
        ...price,
        id: "price_team",
        type: "recurring",
        unit_amount: 99_000,
        recurring: { ...recurring, interval: "year" },
        nickname: "Team licence",
        metadata: { assistant_limit: "25" },
      } as const,
      // Another service's.
      {
        ...price,
        id: "price_other",
        type: "recurring",
        unit_amount: 700,
        recurring,
        metadata: {},
        product: { ...product, id: "prod_other", name: "Another service" },
      } as const,
      {
        ...price,
        id: "price_pack",
        type: "one_time",
        unit_amount: 1000,
        recurring: null,
        product: { ...product, name: "500 credits" },
        metadata: { credits: "500" },
      } as const,
    ].map((one) => [one.id, one as Price]),
  );
  endpoints: Endpoint[] = [];
  /** The events that no test has taken yet. */
  private events: Event[] = [];
  /** The behaviour towards the next requests; a function may look at the request, or kill someone. */
  faultOf: (request: string) => Fault | Promise<Fault> = () => "none";
  /** Called after a request has been carried out, before it is answered. */
  whenDone: (request: string) => void | Promise<void> = () => {};
  nowMs = () => Date.now();
  private readonly remembered = new Map<string, { body: string; answer: Promise<Reply>; isDone: boolean }>();
  private made = 0;

  private server: Loopback | undefined;

  private constructor() {}

  static async start(): Promise<StripeStandIn> {
    const standIn = new StripeStandIn();
    standIn.server = await serve((...request) => void standIn.receive(...request).catch(() => {}));
    return standIn;
  }

  get url(): string {
    return this.server?.url ?? "";
  }

  /** The settings of a service that sells at this account. */
  get environment(): Environment {
    return {
      APP_URL: "http://localhost:3000",
      STRIPE_SECRET_KEY: "sk_test_standin",
      STRIPE_WEBHOOK_SECRET: secret,
      STRIPE_LICENCE_PRICES: "price_month,price_team",
      STRIPE_CREDIT_PRICES: "price_pack",
      STRIPE_API_URL: this.url,
    };
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  /** All that it has, to be brought back. */
  copy(): () => void {
    const maps = Object.values(this).filter((value) => value instanceof Map && value !== this.remembered);
    const [copies, remembered] = [structuredClone(maps) as typeof maps, new Map(this.remembered)];
    return () => {
      const again = structuredClone(copies) as typeof maps;
      for (const [at, map] of [...maps, this.remembered].entries()) {
        map.clear();
        for (const [key, value] of again[at] ?? remembered) map.set(key, value);
      }
      this.events = [];
    };
  }

  /** Takes the events that are waiting to be delivered, oldest first. */
  takeEvents(): Event[] {
    return this.events.splice(0);
  }

  /** Delivers an event to a service's webhook, signed as Stripe signs. */
  deliver(
    service: Service,
    event: object,
    {
      signedWith = secret,
      atMs = this.nowMs(),
      from,
    }: { signedWith?: string; atMs?: number; from?: string } = {},
  ): Promise<Answer> {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(atMs / 1000);
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret: signedWith,
      timestamp,
    });
    const headers = { "content-type": "application/json", "stripe-signature": signature };
    return service.ask("/hooks/stripe", { method: "POST", headers, body, ...(from && { from }) });
  }

  /** The customer pays a checkout; with `byBank`, the money takes days. */
  pay(sessionId: string, { byBank = false } = {}): void {
    const session = this.find(this.sessions, sessionId);
    if (session.status !== "open") throw new Error(`the checkout is ${session.status}`);
    session.status = "complete";
    session.payment_status = byBank ? "unpaid" : "paid";
    if (session.mode === "subscription") this.subscribe(session);
    else session.payment_intent = this.makeIntent(session, byBank ? "processing" : "succeeded") as never;
    this.tell("checkout.session.completed", session);
  }

  /** The bank pays, or does not. */
  settleAtBank(sessionId: string, isPaid: boolean): void {
    const session = this.find(this.sessions, sessionId);
    session.payment_status = isPaid ? "paid" : "unpaid";
    session.payment_intent = this.makeIntent(
      session,
      isPaid ? "succeeded" : "requires_payment_method",
    ) as never;
    this.tell(`checkout.session.async_payment_${isPaid ? "succeeded" : "failed"}`, session);
  }

  /** Refunds a part of a paid checkout, in the smallest unit of its currency. */
  refund(sessionId: string, amount: number): void {
    this.refundCharge(this.chargeOf(sessionId), amount);
  }

  /** The charge of a paid checkout of credits, or the newest one of a subscription. */
  chargeOf(id: string): Charge {
    const intent = this.sessions.get(id)?.payment_intent as Intent | null | undefined;
    const intents = [...this.invoices.values()].flatMap(({ parent, intents }) =>
      parent?.subscription_details.subscription === id ? intents : [],
    );
    const newest = [...this.charges.values()].findLast(({ payment_intent }) =>
      intents.includes(payment_intent),
    );
    const charge = intent?.latest_charge ?? newest;
    if (!charge) throw new Error("nothing was paid");
    return charge;
  }

  refundCharge(charge: Charge, amount = charge.amount - charge.amount_refunded): void {
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    const { id: refunded, payment_intent } = charge;
    const id = this.newId("re");
    const made = { id, object: "refund", created: this.nowSeconds(), status: "succeeded" } as const;
    this.refunds.set(id, { ...made, amount, charge: refunded, payment_intent });
    this.tell("charge.refunded", charge);
  }

  /** A refund that was made comes back from the bank. */
  failRefund(charge: Charge, amount = charge.amount_refunded): void {
    charge.amount_refunded -= amount;
    charge.refunded = false;
    const failed = [...this.refunds.values()].findLast((refund) => refund.charge === charge.id);
    if (!failed) throw new Error("nothing was refunded");
    failed.status = "failed";
    this.tell("refund.failed", failed);
  }

  /** A refund that waits for its customer's bank details is cancelled in the dashboard. */
  cancelRefund(charge: Charge): void {
    this.failRefund(charge);
    const refund = this.events.pop()?.data.object;
    this.tell("refund.updated", { ...refund, status: "canceled" });
  }

  /** The bank is answered before its customer can dispute a charge: it is told what was bought, or it pays them back. */
  preventDispute(charge: Charge, case_type: "block" | "resolution"): void {
    charge.disputed = true;
    const { id, amount, payment_intent } = charge;
    const prevented: Dispute = {
      id: this.newId("dp"),
      object: "dispute",
      status: "prevented",
      amount,
      charge: id,
      payment_intent,
      created: this.nowSeconds(),
      payment_method_details: { card: { case_type } },
    };
    this.disputes.set(prevented.id, prevented);
    this.tell("charge.dispute.created", prevented);
  }

  /** The customer disputes a charge at their bank; `close` is how the bank decides later. */
  dispute(
    charge: Charge,
    amount = charge.amount,
  ): { appeal: () => void; close: (status: "won" | "lost") => void } {
    charge.disputed = true;
    const { id, payment_intent } = charge;
    const dispute: Dispute = {
      id: this.newId("dp"),
      object: "dispute",
      status: "needs_response",
      amount,
      charge: id,
      payment_intent,
      created: this.nowSeconds(),
    } as Dispute;
    this.disputes.set(dispute.id, dispute);
    this.tell("charge.dispute.created", dispute);
    return {
      appeal: () => {
        dispute.status = "appeal_under_review";
        this.tell("charge.dispute.updated", dispute);
      },
      close: (status) => {
        dispute.status = status;
        this.tell("charge.dispute.closed", dispute);
      },
    };
  }

  /** Changes a subscription as Stripe, its customer or its operator does. */
  change(
    id: string,
    changed: Partial<Subscription>,
    type: Event["type"] = "customer.subscription.updated",
  ): void {
    Object.assign(this.find(this.subscriptions, id), changed);
    // A cancellation stops the collection of what is open, which can still be paid: docs.stripe.com/api/subscriptions/cancel
    if (changed.status === "canceled")
      for (const invoice of this.openInvoicesOf(id)) invoice.next_payment_attempt = null;
    this.tell(type, this.find(this.subscriptions, id));
  }

  /** Pauses a subscription, as its operator does at once, or as Stripe does after a trial without a card. */
  pause(id: string, type: Pause = "pause_requested"): void {
    const paused = {
      type: "subscription",
      subscription: { type },
      transitioned_at: this.nowSeconds(),
    } as const;
    this.change(id, { status: "paused", status_details: { paused } }, "customer.subscription.paused");
  }

  /** A paused subscription goes on, after its period with a new one that begins now and is paid. */
  resume(id: string): void {
    const item = this.itemOf(id);
    if (item.current_period_end <= this.nowSeconds()) {
      item.current_period_end = this.nowSeconds();
      this.find(this.subscriptions, id).billing_cycle_anchor = item.current_period_end;
      this.renew(id);
    }
    this.change(id, { status: "active" }, "customer.subscription.resumed");
  }

  /** A day has passed in which the first payment was not finished. */
  expireUnfinished(id: string): void {
    for (const invoice of this.openInvoicesOf(id)) invoice.status = "void";
    const ended_at = this.nowSeconds();
    this.change(id, { status: "incomplete_expired", ended_at }, "customer.subscription.deleted");
  }

  /** Stripe or an operator voids what is open of a subscription, which is as if it was never asked for. */
  voidOpen(id: string): void {
    for (const invoice of this.openInvoicesOf(id)) invoice.status = "void";
    this.change(id, { status: "active" });
  }

  /** A change waits for the end of the period, as the portal makes a downgrade do. */
  scheduleChange(id: string, priceId: string): void {
    const { current_period_start, current_period_end, price } = this.itemOf(id);
    const schedule = this.newId("sub_sched");
    const phases = [
      { start_date: current_period_start, items: [{ price: price.id }] },
      { start_date: current_period_end, items: [{ price: priceId }] },
    ];
    const object = "subscription_schedule";
    this.schedules.set(schedule, { id: schedule, object, phases, pause_schedules: [] } as never);
    this.change(id, { schedule });
  }

  /** The customer plans a pause in the portal, from an instant on and for some days. */
  schedulePause(id: string, pause_at: number, days: number): void {
    const schedule = this.newId("sub_sched");
    const { current_period_start, price } = this.itemOf(id);
    const phases = [{ start_date: current_period_start, items: [{ price: price.id }] }];
    const pause_schedules = [{ pause: { pause_at }, resume: { resume_at: pause_at + days * daySeconds } }];
    const object = "subscription_schedule";
    this.schedules.set(schedule, { id: schedule, object, phases, pause_schedules } as never);
    this.change(id, { schedule });
  }

  cancelAtPeriodEnd(id: string): void {
    this.change(id, { cancel_at_period_end: true, cancel_at: this.itemOf(id).current_period_end });
  }

  /** The subscription ends now: at its period's end, or before. */
  end(id: string): void {
    this.change(id, { status: "canceled", ended_at: this.nowSeconds() }, "customer.subscription.deleted");
  }

  /** The next period begins, paid or not. */
  renew(id: string, { isPaid = true } = {}): void {
    const item = this.itemOf(id);
    item.current_period_start = item.current_period_end;
    item.current_period_end = this.periodEndOf(id, item);
    const { status, pause_collection, collection_method } = this.find(this.subscriptions, id);
    const invoice = this.bill(id, "subscription_cycle", this.sumOf(id).total, isPaid);
    if (pause_collection) invoice.status = "void";
    // What Stripe gave up collecting is only drafted from then on.
    if (!isPaid && status === "unpaid") invoice.status = "draft";
    const isDue = invoice.status === "open" && (collection_method !== "send_invoice" || status !== "active");
    const isKept = invoice.status === "void" || invoice.status === "draft";
    this.change(id, { status: isKept ? status : isDue ? "past_due" : "active" });
  }

  /** When a period ends that has just begun: days after its start, or by the calendar on its anchor's day. */
  private periodEndOf(id: string, { price, current_period_start }: Item): number {
    const { interval, interval_count = 1 } = price.recurring ?? {};
    const months = { month: 1, year: 12 }[interval as string] ?? 0;
    if (!this.isByCalendar || months === 0) return current_period_start + periodOf(price);
    const anchor = new Date(this.find(this.subscriptions, id).billing_cycle_anchor * 1000);
    const start = new Date(current_period_start * 1000);
    const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months * interval_count];
    const day = Math.min(anchor.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate());
    return Date.UTC(year, month, day) / 1000 + (Math.floor(anchor.getTime() / 1000) % daySeconds);
  }

  /** The customer pays what is open, so the subscription is active again, unless its last invoice is a draft. */
  payOpen(id: string): void {
    for (const invoice of this.openInvoicesOf(id)) this.payInvoice(invoice, invoice.amount_remaining);
    const latest = this.invoices.get(this.find(this.subscriptions, id).latest_invoice ?? "");
    this.change(id, latest?.status === "draft" ? {} : { status: "active" });
  }

  /** The customer pays the invoices that came by mail before they are due, or an operator voids them. */
  settleMailed(id: string, how: "paid" | "void"): void {
    for (const invoice of this.openInvoicesOf(id)) {
      if (how === "paid") this.payInvoice(invoice, invoice.amount_remaining);
      invoice.status = how;
      this.tell(how === "paid" ? "invoice.paid" : "invoice.voided", invoice);
    }
  }

  /** The customer's bank is asked to pay what is open, which takes days. Meanwhile its charge is pending. */
  askBank(id: string): void {
    for (const invoice of this.openInvoicesOf(id)) {
      const { latest_charge } = this.charge(
        ...([invoice.customer, invoice.amount_remaining, invoice.currency, "succeeded"] as const),
      );
      if (!latest_charge) continue;
      latest_charge.status = "pending";
      this.intents.set(latest_charge.payment_intent, { status: "processing", code: null });
      invoice.intents.push(latest_charge.payment_intent);
      invoice.next_payment_attempt = null;
    }
  }

  private openInvoicesOf(id: string): Invoice[] {
    return [...this.invoices.values()].filter(
      ({ parent, status }) => parent?.subscription_details.subscription === id && status === "open",
    );
  }

  /**
   * The customer takes another price. With the same interval the rest of the period is billed; another interval begins a
   * new period, and what is left of the old one is credited.
   */
  switchPrice(id: string, priceId: string, { isPaid = true } = {}): void {
    const item = this.itemOf(id);
    const { to, due, unused, isAnew } = this.changeOf(id, priceId);
    const replaced = {
      amount: -unused,
      quantity: item.quantity ?? 1,
      period: { start: this.nowSeconds(), end: item.current_period_end },
      pricing: { price_details: { price: item.price.id } },
    };
    item.price = to;
    if (isAnew) {
      item.current_period_start = this.nowSeconds();
      const subscription = this.find(this.subscriptions, id);
      subscription.billing_cycle_anchor = item.current_period_start;
      item.current_period_end = this.periodEndOf(id, item);
      if (subscription.cancel_at_period_end) subscription.cancel_at = item.current_period_end;
    }
    const invoice = this.bill(id, "subscription_update", due, isPaid);
    invoice.lines.data.push(replaced);
    this.change(id, { status: invoice.status === "open" ? "past_due" : "active" });
  }

  /** What the change to another price costs at once, less what is left of the period. */
  private changeOf(id: string, priceId: string, anchor?: string | null) {
    const { price, current_period_end } = this.itemOf(id);
    const to = this.find(this.prices, priceId) as Stripe.Price;
    const rest = Math.max(0, current_period_end - this.nowSeconds()) / periodOf(price);
    const unused = Math.floor((price.unit_amount ?? 0) * rest);
    const isAnew = anchor === "now" || periodOf(to) !== periodOf(price);
    return {
      to,
      unused,
      due: Math.floor((to.unit_amount ?? 0) * (isAnew ? 1 : rest)) - unused,
      isAnew,
    };
  }

  /** An operator deletes a customer in the dashboard. Its subscriptions end. */
  deleteCustomer(id: string): boolean {
    for (const { id: subscription, customer, status } of this.subscriptions.values()) {
      if (customer === id && status !== "canceled") this.end(subscription);
    }
    const found = this.customers.get(id);
    if (found) this.deleted.set(id, found);
    return this.customers.delete(id);
  }

  itemOf(id: string): Item {
    const [item] = this.find(this.subscriptions, id).items.data;
    if (!item) throw new Error("no item");
    return item;
  }

  private find<T>(map: Map<string, T>, id: string): T {
    const found = map.get(id);
    if (!found) throw new Error(`no ${id}`);
    return found;
  }

  private newId(prefix: string): string {
    return `${prefix}_${(++this.made).toString(36).padStart(6, "0")}`;
  }

  private nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  private tell(type: Event["type"], { ...object }: object): void {
    const id = this.newId("evt");
    this.events.push({ id, object: "event", type, created: this.nowSeconds(), data: { object } });
  }

  private subscribe(session: Session): void {
    session.subscription = this.makeSubscription(
      String(session.customer),
      session.asked["line_items[0][price]"] ?? "",
      session.metadata ?? {},
      { isTaxed: session.asked["automatic_tax[enabled]"] === "true" },
    );
  }

  /**
   * A new subscription that is paid: from a checkout, or made in the dashboard. Returns its id.
   *
   * @param how - `daysUntilDue` has invoices sent by mail, `trialDays` makes it free at first, and `isIncomplete` leaves
   * its first payment unfinished, as 3-D Secure may
   */
  makeSubscription(
    customer: string,
    priceId: string,
    metadata: Record<string, string> = {},
    how: { isTaxed?: boolean; daysUntilDue?: number; trialDays?: number; isIncomplete?: boolean } = {},
  ): string {
    const id = this.newId("sub");
    const price = this.find(this.prices, priceId) as Stripe.Price;
    const current_period_start = this.nowSeconds();
    const { daysUntilDue = null, trialDays, isIncomplete = false } = how;
    const trial_end = trialDays === undefined ? null : current_period_start + trialDays * daySeconds;
    this.subscriptions.set(id, {
      id,
      object: "subscription",
      status: isIncomplete ? "incomplete" : trial_end ? "trialing" : "active",
      created: current_period_start,
      customer,
      cancel_at: null,
      cancel_at_period_end: false,
      ended_at: null,
      pause_collection: null,
      collection_method: daysUntilDue === null ? "charge_automatically" : "send_invoice",
      days_until_due: daysUntilDue,
      trial_end,
      billing_cycle_anchor: trial_end ?? current_period_start,
      trial_settings: null,
      latest_invoice: null,
      schedule: null,
      currency: this.currencyIn(price as Price, this.currencyOf(customer)),
      automatic_tax: { enabled: how.isTaxed === true },
      metadata,
      items: {
        data: [
          {
            id: this.newId("si"),
            price,
            quantity: 1,
            current_period_start,
            current_period_end: trial_end ?? 0,
          },
        ],
      },
    });
    const item = this.itemOf(id);
    item.current_period_end ||= this.periodEndOf(id, item);
    if (!this.cards.has(customer))
      this.cards.set(customer, { id: this.newId("pm"), answer: "paid", isDefault: false });
    const isPaid = !isIncomplete && daysUntilDue === null;
    this.bill(id, "subscription_create", trial_end ? 0 : this.sumOf(id).total, isPaid);
    this.tell("customer.subscription.created", this.find(this.subscriptions, id));
    return id;
  }

  /** An invoice of a subscription: paid from the customer's credit first, then charged, unless the card refuses. */
  private bill(id: string, reason: Stripe.Invoice.BillingReason, amount: number, isPaid: boolean): Invoice {
    const subscription = this.find(this.subscriptions, id);
    const customer = String(subscription.customer);
    const credit = (this.credits.get(customer) ?? 0) - amount;
    this.credits.set(customer, Math.max(0, credit));
    const due = Math.max(0, -credit);
    const days = subscription.days_until_due;
    const newId = this.newId("in");
    const invoice: Invoice = {
      id: newId,
      object: "invoice",
      status: "open",
      billing_reason: reason,
      created: this.nowSeconds(),
      currency: subscription.currency,
      total: amount,
      amount_paid: 0,
      amount_remaining: due,
      next_payment_attempt:
        days === null && subscription.status !== "incomplete" ? this.nowSeconds() + 3 * daySeconds : null,
      parent: { subscription_details: { subscription: id } },
      intents: [],
      due_date: days === null ? null : this.nowSeconds() + days * daySeconds,
      lines: {
        data: subscription.items.data.map(
          ({ price, quantity, current_period_start, current_period_end }) => ({
            amount: (price.unit_amount ?? 0) * (quantity ?? 1),
            quantity: quantity ?? 1,
            period: { start: current_period_start, end: current_period_end },
            pricing: { price_details: { price: price.id } },
          }),
        ),
      },
      ...this.linksOf(newId),
      customer,
    } as Invoice;
    this.invoices.set(invoice.id, invoice);
    subscription.latest_invoice = invoice.id;
    if (isPaid || due === 0) this.payInvoice(invoice, due);
    return invoice;
  }

  private linksOf(invoice: string) {
    return {
      hosted_invoice_url: `${this.url}/invoice/${invoice}`,
      invoice_pdf: `https://pay.stripe.com/invoice/acct_standin/${invoice}/pdf?s=ap`,
    };
  }

  /** The currency of a customer, which the first invoice decides. */
  private currencyOf(customer: string): string | undefined {
    return [...this.subscriptions.values()].find((one) => one.customer === customer)?.currency;
  }

  /** The customer's, if the price has it. */
  private currencyIn({ currency, currency_options }: Price, customers: string | undefined): string {
    return customers && currency_options?.[customers] ? customers : currency;
  }

  /** What the items of a subscription cost for a period, less its customer's coupon, with the tax that is added. */
  private sumOf(id: string): { total: number; total_excluding_tax: number } {
    const { items, currency, customer, automatic_tax } = this.find(this.subscriptions, id);
    const left = 1 - (this.percentsOff.get(String(customer)) ?? 0) / 100;
    const { percent, behavior } = this.tax;
    const added = {
      inclusive: false,
      exclusive: true,
      inferred_by_currency: ["usd", "cad"].includes(currency),
    };
    let [total, total_excluding_tax] = [0, 0];
    for (const { price, quantity = 1 } of items.data) {
      const one = (price as Price).currency_options?.[currency] ?? (price as Price);
      const says = one.tax_behavior === "unspecified" ? undefined : one.tax_behavior;
      const amount = Math.round((one.unit_amount ?? 0) * quantity * left);
      const rate = automatic_tax.enabled ? 1 + percent / 100 : 1;
      const isAdded = added[says ?? behavior ?? "inclusive"];
      total += isAdded ? Math.round(amount * rate) : amount;
      total_excluding_tax += isAdded ? amount : Math.round(amount / rate);
    }
    return { total, total_excluding_tax };
  }

  /** The invoice that a subscription would have next, or with a change. */
  private preview(fields: URLSearchParams): Reply {
    const id = fields.get("subscription") ?? "";
    const subscription = this.subscriptions.get(id);
    if (!subscription || this.isAnother)
      return refuse(404, "resource_missing", `No such subscription: '${id}'`);
    if (subscription.status === "canceled" || subscription.cancel_at_period_end)
      return refuse(404, "invoice_upcoming_none", "No upcoming invoices for customer.");
    const period_end = Math.min(...subscription.items.data.map((item) => item.current_period_end));
    const priceId = fields.get("subscription_details[items][0][price]");
    const to = priceId === null ? undefined : this.find(this.prices, priceId);
    if (to && this.currencyIn(to, subscription.currency) !== subscription.currency)
      return refuse(400, undefined, `The price specified only supports \`${to.currency}\`.`);
    const anchor = fields.get("subscription_details[billing_cycle_anchor][type]");
    const change = priceId === null ? undefined : this.changeOf(id, priceId, anchor);
    const isOnce =
      change?.isAnew === true || fields.get("subscription_details[proration_behavior]") === "always_invoice";
    const lines = change ? this.linesOf(id, change, isOnce) : [];
    const total = change && lines.reduce((sum, { amount }) => sum + amount, 0);
    const taxed = {
      total: (total ?? 0) + this.taxOfChange,
      total_excluding_tax: total,
      total_taxes: [{ amount: this.taxOfChange, tax_behavior: "exclusive" }],
    };
    const sum = total === undefined ? this.sumOf(id) : taxed;
    const credit = this.credits.get(String(subscription.customer)) ?? 0;
    return ok({
      id: `upcoming_${this.newId("in")}`,
      object: "invoice",
      status: "draft",
      ...sum,
      amount_due: Math.max(0, sum.total - credit),
      currency: subscription.currency,
      period_end,
      next_payment_attempt: period_end + 3600,
      lines: { data: lines },
    });
  }

  /** What a change adds, with the next period if it is charged with that, and what is left of the price before. */
  private linesOf(
    id: string,
    { to, due, unused, isAnew }: ReturnType<typeof this.changeOf>,
    isOnce: boolean,
  ) {
    const [start, end] = [this.nowSeconds(), this.itemOf(id).current_period_end];
    const next = { amount: to.unit_amount ?? 0, period: { start: end, end: end + periodOf(to) } };
    return [
      { amount: due + unused, period: { start, end: isAnew ? start + periodOf(to) : end } },
      { amount: -unused, period: { start, end } },
      ...(isOnce ? [] : [next]),
    ];
  }

  /** A new invoice that someone makes by hand, a draft without lines. */
  private draftInvoice(fields: URLSearchParams): Reply {
    const customer = fields.get("customer") ?? "";
    if (!this.customers.has(customer)) return refuse(400, "resource_missing", "No such customer");
    const id = this.newId("in");
    const made: Invoice = {
      id,
      object: "invoice",
      status: "draft",
      billing_reason: "manual",
      created: this.nowSeconds(),
      // Without one, that of the customer or else of our account: docs.stripe.com/api/invoices/create#create_invoice-currency
      ...{ currency: fields.get("currency") ?? this.currencyOf(customer) ?? "usd" },
      total: 0,
      amount_paid: 0,
      amount_remaining: 0,
      due_date: null,
      customer,
      parent: null,
      intents: [],
      lines: { data: [] },
      attempted: false,
      next_payment_attempt: null,
      metadata: metadataIn(fields),
      ...this.linksOf(id),
      automatic_tax: { enabled: fields.get("automatic_tax[enabled]") === "true" },
    };
    this.invoices.set(id, made);
    return ok(made);
  }

  private addItem(fields: URLSearchParams): Reply {
    const invoice = this.invoices.get(fields.get("invoice") ?? "");
    const price = this.prices.get(fields.get("pricing[price]") ?? "");
    if (invoice?.status !== "draft" || !price) return refuse(400, undefined, "No such draft or price.");
    if (!price.active) return refuse(400, undefined, "The price specified is inactive.");
    if (this.currencyIn(price, invoice.currency) !== invoice.currency)
      return refuse(400, undefined, `The price specified only supports \`${price.currency}\`.`);
    const line = this.lineOf(price.id);
    invoice.lines.data.push(line);
    invoice.total += line.amount;
    return ok({ id: this.newId("ii"), object: "invoiceitem" });
  }

  /** A line for something that is paid once. */
  private lineOf(priceId: string): Line {
    const period = { start: this.nowSeconds(), end: this.nowSeconds() };
    const amount = this.prices.get(priceId)?.unit_amount ?? 0;
    return { amount, quantity: 1, period, pricing: { price_details: { price: priceId } } };
  }

  private finalizeInvoice(id: string): Reply {
    const invoice = this.invoices.get(id);
    if (invoice?.status !== "draft") return refuse(400, undefined, "This invoice is finalized.");
    const credit = this.credits.get(invoice.customer) ?? 0;
    const amount_remaining = Math.max(0, invoice.total - credit);
    this.credits.set(invoice.customer, Math.max(0, credit - invoice.total));
    Object.assign(invoice, { status: "open", amount_remaining });
    if (amount_remaining === 0) this.payInvoice(invoice, 0);
    return ok(invoice);
  }

  /** Charges a card while its owner is away. */
  private chargeInvoice(id: string, fields: URLSearchParams): Reply {
    const invoice = this.invoices.get(id);
    if (invoice?.status !== "open") return refuse(400, undefined, "Invoice is already paid, or not open.");
    const card = this.cards.get(invoice.customer);
    if (!card || fields.get("payment_method") !== card.id || fields.get("off_session") !== "true")
      return refuse(400, "resource_missing", "No such payment method.");
    invoice.attempted = true;
    if (card.answer === "paid") {
      this.payInvoice(invoice, invoice.amount_remaining);
      return ok(invoice);
    }
    const isProcessing = card.answer === "processing";
    const code = card.answer === "confirmation" ? "authentication_required" : "card_declined";
    const [status, ofIntent] = {
      declined: ["requires_payment_method", code],
      confirmation: ["requires_payment_method", code],
      action: ["requires_action", null],
      processing: ["processing", null],
    }[card.answer] as [string, string | null];
    const intent = this.newId("pi");
    this.intents.set(intent, { status, code: ofIntent });
    invoice.intents.push(intent);
    if (isProcessing) return ok(invoice);
    return { status: 402, body: { error: { type: "card_error", code, message: "Your card was declined." } } };
  }

  /** The bank answers what it was thinking about. */
  finishProcessing(invoiceId: string): void {
    const invoice = this.find(this.invoices, invoiceId);
    for (const intent of invoice.intents.splice(0)) this.intents.delete(intent);
    this.payInvoice(invoice, invoice.amount_remaining);
  }

  /** A saved card as Stripe shows it. */
  private cardOf(customer: string, isDefault?: boolean): { type: string; id: string; object: string } | null {
    const card = this.cards.get(customer);
    if (!card || (isDefault !== undefined && card.isDefault !== isDefault)) return null;
    // Link is a method of payment of its own, which does not say what card is behind it.
    const shown = card.isByLink
      ? { type: "link", link: { email: null } }
      : {
          type: "card",
          card: { brand: "visa", display_brand: "visa", last4: "4242", exp_month: 8, exp_year: 2027 },
        };
    return { id: card.id, object: "payment_method", ...shown };
  }

  payInvoice(invoice: Invoice, amount: number): void {
    if (amount > 0)
      invoice.intents.push(this.charge(invoice.customer, amount, invoice.currency, "succeeded").id);
    Object.assign(invoice, { status: "paid", amount_paid: amount, amount_remaining: 0 });
  }

  /** The payment of a checkout, which has an invoice if it was asked for. */
  private makeIntent(session: Session, status: Stripe.PaymentIntent["status"]): Intent {
    const { customer, currency, asked } = session;
    const total = session.amount_total ?? 0;
    const intent = this.charge(customer as string | null, total, currency ?? "eur", status);
    if (status !== "succeeded" || asked["invoice_creation[enabled]"] !== "true") return intent;
    const id = this.newId("in");
    this.invoices.set(id, {
      id,
      object: "invoice",
      status: "paid",
      billing_reason: "manual",
      created: this.nowSeconds(),
      currency: currency ?? "eur",
      total,
      amount_paid: total,
      amount_remaining: 0,
      due_date: null,
      next_payment_attempt: null,
      customer: String(customer),
      parent: null,
      intents: [intent.id],
      lines: { data: [this.lineOf(asked["line_items[0][price]"] ?? "")] },
      ...this.linksOf(id),
    });
    return intent;
  }

  private charge(
    customer: string | null,
    amount: number,
    currency: string,
    status: Stripe.PaymentIntent["status"],
  ): Intent {
    const intent: Intent = { id: this.newId("pi"), object: "payment_intent", status, latest_charge: null };
    if (status !== "succeeded") return intent;
    intent.latest_charge = {
      id: this.newId("ch"),
      object: "charge",
      amount,
      amount_refunded: 0,
      refunded: false,
      disputed: false,
      created: this.nowSeconds(),
      status: "succeeded",
      currency,
      customer,
      payment_intent: intent.id,
    };
    this.charges.set(intent.latest_charge.id, intent.latest_charge);
    return intent;
  }

  private async receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    const { pathname, searchParams } = new URL(url, this.url);
    const body = await text(incoming);
    if (!pathname.startsWith("/v1/")) return this.show(method, pathname, outgoing);
    const request = `${method} ${pathname}`;
    this.requests.push(request);
    const fault = await this.faultOf(request);
    const send = ({ status, body }: Reply) => {
      if (fault === "lost") return incoming.socket.destroy();
      const date = new Date(this.nowMs() + this.clockSkewMs).toUTCString();
      outgoing.writeHead(status, { "content-type": "application/json", date }).end(JSON.stringify(body));
    };
    if (fault === "silent") return;
    if (fault === "reset") return void incoming.socket.destroy();
    if (fault === "late") await sleep(3000);
    if (fault === "400") return void send(refuse(400, undefined, "This cannot be read."));
    if (fault === "429") return void send(refuse(429, "rate_limit", "Too many requests."));
    if (fault === "401") return void send(refuse(401, undefined, "Invalid API Key provided."));
    const key = headers["idempotency-key"] ? String(headers["idempotency-key"]) : undefined;
    const known = key === undefined ? undefined : this.remembered.get(key);
    if (known && known.body !== body)
      return void send(refuse(400, undefined, "Keys for idempotent requests differ."));
    if (known && !known.isDone) return void send(refuse(409, "idempotency_key_in_use", "In use."));
    const isOurs = headers.authorization === `Bearer ${this.environment.STRIPE_SECRET_KEY}`;
    const work = async (): Promise<Reply> => {
      // Stripe remembers a failure of its own as well.
      if (fault === "500") return refuse(500, undefined, "Something went wrong.");
      if (!isOurs) return refuse(401, undefined, "Invalid API Key provided.");
      const answer = this.answer(
        method,
        pathname,
        method === "GET" ? searchParams : new URLSearchParams(body),
      );
      return fault === "done500" ? refuse(500, undefined, "Something went wrong.") : answer;
    };
    const answer = known?.answer ?? work();
    const kept = { body, answer, isDone: false };
    if (key && !known) this.remembered.set(key, kept);
    const reply = structuredClone(await answer); // what changes until it is sent is not in it
    await this.whenDone(request);
    kept.isDone = true;
    send(reply);
  }

  /** Answers without a connection, for a library in this process. */
  async ask(method: string, path: string, body: string, key?: string): Promise<Reply> {
    const { pathname, searchParams } = new URL(path, "http://stripe");
    const fields = method === "GET" ? searchParams : new URLSearchParams(body);
    const work = async (): Promise<Reply> => {
      const fault = await this.faultOf(`${method} ${pathname}`);
      const isDone = fault === "none" || fault === "done500";
      const answer = isDone ? this.answer(method, pathname, fields) : refuse(500, undefined, "Away.");
      return fault === "done500" ? refuse(500, undefined, "Away.") : answer;
    };
    const answer = (key && this.remembered.get(key)?.answer) || work();
    if (key) this.remembered.set(key, { body, answer, isDone: true });
    return answer;
  }

  /** Answers a request to the API. */
  answer(method: string, path: string, fields: URLSearchParams): Reply {
    const [, , kind = "", id = "", action] = path.replace("checkout/sessions", "sessions").split("/");
    const missing = (status = 404) => refuse(status, "resource_missing", `No such ${kind}: '${id}'`);
    const of = <T>(map: Map<string, T>) => {
      const found = this.isAnother ? undefined : map.get(decodeURIComponent(id));
      return found ? ok(found as object) : missing();
    };
    const route = `${method} ${kind}${id ? "/id" : ""}${action ? `/${action}` : ""}`;
    if (this.forbids(`${method} ${path}`))
      return refuse(
        403,
        undefined,
        "The provided key does not have the required permissions for this endpoint.",
      );
    const customer = fields.get("customer") ?? "";
    if (route === "GET customers/id" && id === "search") return this.search(fields);
    switch (route) {
      case "POST customers": {
        const metadata = metadataIn(fields);
        const email = fields.get("email");
        if (email !== null && /\.\.|\.@|@[^.]*$/.test(email))
          return refuse(400, "email_invalid", "Invalid email address");
        return ok(this.addCustomer(email, metadata));
      }
      case "GET customers": {
        const email = fields.get("email");
        return list(
          this.listed(this.customers).filter((one) => email === null || one.email === email),
          fields,
        );
      }
      case "GET customers/id": {
        if (this.deleted.has(id)) return ok({ id, object: "customer", deleted: true });
        const invoice_settings = { default_payment_method: this.cardOf(id, true) };
        const { status, body } = of(this.customers);
        const currency = this.currencyOf(id) ?? null;
        return { status, body: { ...body, ...(status === 200 && { currency, invoice_settings }) } };
      }
      case "GET customers/id/payment_methods":
        return list(
          [this.cardOf(id)].flatMap((card) => (card?.type === fields.get("type") ? [card] : [])),
          fields,
        );
      case "POST customers/id": {
        const known = this.customers.get(id);
        if (!known) return missing();
        known.email = fields.get("email") ?? known.email;
        Object.assign(known.metadata, metadataIn(fields));
        return ok(known);
      }
      case "DELETE customers/id":
        return this.deleteCustomer(id) ? ok({ id, object: "customer", deleted: true }) : missing();
      case "POST sessions":
        return this.createSession(fields);
      case "GET sessions/id": {
        const found = this.isAnother ? undefined : this.sessions.get(id);
        if (!found) return missing();
        const asked = expandedIn(fields);
        return ok({
          ...found,
          ...(asked.includes("line_items") && { line_items: this.itemsOf(found) }),
          ...(asked.includes("customer") && { customer: this.customerOf(found) }),
        });
      }
      case "GET sessions": {
        const { payment_intent, ...asked } = {
          payment_intent: fields.get("payment_intent"),
          customer: fields.get("customer"),
          status: fields.get("status"),
          payment_link: fields.get("payment_link"),
        };
        const made = new Set([
          ...[...this.charges.values()].map((charge) => charge.payment_intent),
          ...[...this.sessions.values()].map((session) => (session.payment_intent as Intent | null)?.id),
        ]);
        if (payment_intent !== null && !made.has(payment_intent)) return missing(400);
        const isAsked = (session: Session) =>
          (payment_intent === null || (session.payment_intent as Intent | null)?.id === payment_intent) &&
          Object.entries(asked).every(
            ([name, value]) => value === null || session[name as keyof typeof asked] === value,
          );
        const email = fields.get("customer_details[email]");
        const hasItems = expandedIn(fields).includes("data.line_items");
        return list(
          this.listed(this.sessions)
            .filter((one) => isAsked(one) && (email === null || one.customer_details?.email === email))
            .map((one) => ({ ...one, ...(hasItems && { line_items: this.itemsOf(one) }) })),
          fields,
        );
      }
      case "POST sessions/id/expire": {
        const session = this.sessions.get(id);
        if (session?.status !== "open") return refuse(400, undefined, "Only open checkouts can be expired.");
        session.status = "expired";
        session.url = null;
        this.tell("checkout.session.expired", session);
        return ok(session);
      }
      case "GET subscriptions/id": {
        const found = this.isAnother ? undefined : this.subscriptions.get(id);
        return found ? ok(this.expand(found, fields)) : missing();
      }
      case "GET subscriptions":
        if (customer && (!this.customers.has(customer) || this.isAnother)) return missing(400);
        return list(
          this.listed(this.subscriptions)
            .filter(
              (one) =>
                (!customer || one.customer === customer) &&
                (fields.get("status") === "all" || !hasEnded(one)),
            )
            .map((one) => ({ ...one, default_payment_method: this.cardOf(String(one.customer), false) })),
          fields,
        );
      case "DELETE subscriptions/id": {
        const found = this.subscriptions.get(id);
        if (!found || hasEnded(found) || this.isAnother) return missing();
        const status = found.status === "incomplete" ? "incomplete_expired" : "canceled";
        this.change(id, { status, ended_at: this.nowSeconds() }, "customer.subscription.deleted");
        return ok(found);
      }
      case "POST invoices/id/void": {
        const invoice = this.invoices.get(id);
        if (invoice?.status !== "open") return refuse(400, undefined, "Only open invoices can be voided.");
        invoice.status = "void";
        return ok(invoice);
      }
      case "POST invoices":
        return this.draftInvoice(fields);
      case "POST invoiceitems":
        return this.addItem(fields);
      case "POST invoices/id/finalize":
        return this.finalizeInvoice(id);
      case "POST invoices/id/pay":
        return this.chargeInvoice(id, fields);
      case "DELETE invoices/id":
        if (this.invoices.get(id)?.status !== "draft") return refuse(400, undefined, "This is no draft.");
        this.invoices.delete(id);
        return ok({ id, object: "invoice", deleted: true });
      case "GET invoices/id": {
        const found = this.isAnother ? undefined : this.invoices.get(id);
        if (!found) return missing();
        const asked = expandedIn(fields);
        return ok({
          ...found,
          ...(asked.includes("customer") && { customer: this.customerOf(found) }),
          ...(asked.some((name) => name.startsWith("payments")) && {
            payments: this.paymentsOf(found, true),
          }),
        });
      }
      case "GET charges":
        return list(
          this.listed(this.charges).filter((charge) => !customer || charge.customer === customer),
          fields,
        );
      case "GET payment_intents":
      case "GET products":
        return list([], fields);
      case "GET prices":
        return list(this.listed(this.prices), fields);
      case "GET refunds":
        return list(this.listed(this.refunds), fields);
      case "GET disputes": {
        const charge = fields.get("charge");
        return list(
          this.listed(this.disputes).filter((one) => charge === null || one.charge === charge),
          fields,
        );
      }
      case "GET invoices": {
        const [subscription, status] = [fields.get("subscription"), fields.get("status")];
        const hasPayments = expandedIn(fields).includes("data.payments");
        return list(
          this.listed(this.invoices)
            .filter(
              ({ parent, ...invoice }) =>
                (!customer || invoice.customer === customer) &&
                (subscription === null || parent?.subscription_details.subscription === subscription) &&
                (status === null || invoice.status === status),
            )
            .map((one) => ({ ...one, ...(hasPayments && { payments: this.paymentsOf(one) }) })),
          fields,
        );
      }
      case "GET subscription_schedules/id":
        return of(this.schedules);
      case "GET invoice_payments":
        return list(this.listPayments(fields), fields);
      case "POST invoices/id":
        return id === "create_preview" ? this.preview(fields) : missing();
      case "GET prices/id":
        return of(this.prices);
      case "GET webhook_endpoints":
        return list(this.endpoints, fields);
      case "GET tax/id":
        return ok({
          object: "tax.settings",
          status: this.taxStatus,
          defaults: { tax_behavior: this.tax.behavior },
        });
      case "GET billing_portal/id":
        return list(this.portals, fields);
      case "POST billing_portal/id": {
        if (!this.customers.has(customer)) return missing(400);
        const to = encodeURIComponent(fields.get("return_url") ?? "");
        const change = fields.get("flow_data[subscription_update_confirm][items][0][price]");
        const { enabled, products } = this.subscriptionUpdate;
        if (change !== null && !enabled)
          return refuse(400, undefined, "The subscription update feature in the portal is disabled.");
        if (change !== null && !products.some(({ prices }) => prices.includes(change)))
          return refuse(400, undefined, "The price is not in the portal's configuration.");
        const url = `${this.url}/portal/${customer}?to=${to}${change === null ? "" : `&confirm=${change}`}`;
        this.returnUrl = fields.get("return_url") ?? "";
        return ok({ id: this.newId("bps"), object: "billing_portal.session", url });
      }
      default:
        return refuse(404, undefined, `Unrecognized request URL (${route}).`);
    }
  }

  /** A subscription with what was asked to be sent whole. */
  private expand(subscription: Subscription, fields: URLSearchParams): object {
    const asked = expandedIn(fields);
    const { latest_invoice: invoice, customer } = subscription;
    const invoice_settings = { default_payment_method: this.cardOf(String(customer), true) };
    return {
      ...subscription,
      ...(asked.includes("default_payment_method") && {
        default_payment_method: this.cardOf(String(customer), false),
        customer: { ...this.customerOf(subscription), invoice_settings },
      }),
      ...(asked.includes("customer") && { customer: this.customerOf(subscription) }),
      ...(asked.includes("latest_invoice") && { latest_invoice: this.invoices.get(invoice ?? "") ?? null }),
    };
  }

  private listed<T>(map: Map<string, T>): T[] {
    return this.isAnother ? [] : [...map.values()];
  }

  /** A customer that someone else makes: another service, a Payment Link or an operator in the dashboard. */
  addCustomer(email: string | null, metadata: Record<string, string> = {}): Customer {
    const made: Customer = {
      id: this.newId("cus"),
      object: "customer",
      email,
      metadata,
      created: this.nowSeconds(),
      account: metadata.account ?? "",
    } as const;
    this.customers.set(made.id, made);
    return made;
  }

  /** Someone pays at a Payment Link, where a customer is made for a subscription only. Returns the checkout's id. */
  payLink(email: string, priceId: string, quantity = 1, metadata: Record<string, string> = {}): string {
    const price = this.find(this.prices, priceId);
    const isRecurring = price.type === "recurring";
    const session = this.addSession({
      mode: isRecurring ? "subscription" : "payment",
      payment_link: "plink_1",
      customer: isRecurring ? this.addCustomer(email).id : null,
      customer_details: { email },
      metadata,
      asked: { "line_items[0][price]": priceId, "line_items[0][quantity]": String(quantity) },
    });
    this.pay(session.id);
    return session.id;
  }

  private customerOf({ customer: id }: Pick<Session, "customer">): object | null {
    if (id === null) return null;
    return this.customers.get(String(id)) ?? { id, object: "customer", deleted: true };
  }

  private itemsOf({ asked }: Session): object {
    const price = this.prices.get(asked["line_items[0][price]"] ?? "");
    const quantity = Number(asked["line_items[0][quantity]"] ?? 1);
    return { object: "list", data: [{ id: "li_1", object: "item", price, quantity }], has_more: false };
  }

  /** Search by one field of the metadata: it finds what is a minute old, and what was deleted. */
  private search(fields: URLSearchParams): Reply {
    const [, name = "", value] = /^metadata\['(\w+)'\]:'([^']*)'$/.exec(fields.get("query") ?? "") ?? [];
    if (value === undefined) return refuse(400, undefined, "We were unable to parse your search query.");
    const indexed = [...this.listed(this.customers), ...this.listed(this.deleted)];
    const before = (this.nowMs() - this.searchDelayMs) / 1000;
    const data = indexed.filter(({ metadata, created }) => metadata[name] === value && created <= before);
    return ok({ object: "search_result", data, has_more: false, next_page: null });
  }

  /** The payments of invoices: by invoice or by payment intent. */
  private listPayments(fields: URLSearchParams): object[] {
    const [asked, intent] = [fields.get("invoice"), fields.get("payment[payment_intent]")];
    const expanded = expandedIn(fields);
    return this.listed(this.invoices).flatMap((invoice) =>
      invoice.intents.flatMap((id) => {
        if ((asked ?? invoice.id) !== invoice.id || (intent ?? id) !== id) return [];
        const latest_charge = [...this.charges.values()].find(({ payment_intent }) => payment_intent === id);
        const { status = "succeeded", code = null } = this.intents.get(id) ?? {};
        const isPaid = status === "succeeded";
        if (fields.get("status") === "paid" && !isPaid) return [];
        const last_payment_error = code && { code };
        const whole = { id, object: "payment_intent", status, last_payment_error, latest_charge };
        const isWhole = expanded.some((name) => name.startsWith("data.payment.payment_intent"));
        const payment = this.bareCharges.has(id)
          ? { type: "charge", charge: isWhole ? latest_charge : latest_charge?.id }
          : { type: "payment_intent", payment_intent: isWhole ? whole : id };
        const made = {
          id: `inpay_${id}`,
          object: "invoice_payment",
          status: isPaid ? "paid" : "open",
          payment,
        };
        const paid = { amount_paid: latest_charge?.amount ?? 0, currency: invoice.currency };
        return { ...made, ...paid, invoice: expanded.includes("data.invoice") ? invoice : invoice.id };
      }),
    );
  }

  private paymentsOf({ id: invoice }: Invoice, isWhole = false): object {
    const asked = { invoice, ...(isWhole && { "expand[]": "data.payment.payment_intent" }) };
    return { object: "list", data: this.listPayments(new URLSearchParams(asked)), has_more: false };
  }

  private returnUrl = "";

  private createSession(fields: URLSearchParams): Reply {
    const customer = fields.get("customer") ?? "";
    if (!this.customers.has(customer)) return refuse(400, "resource_missing", "No such customer");
    if (fields.has("tax_id_collection[enabled]") && fields.get("customer_update[name]") !== "auto")
      return refuse(400, undefined, "Tax ID collection requires updating the customer's name.");
    if (!this.prices.has(fields.get("line_items[0][price]") ?? "")) {
      return refuse(400, "resource_missing", "No such price");
    }
    return ok(
      this.addSession({
        mode: fields.get("mode") as Stripe.Checkout.Session.Mode,
        customer,
        customer_details: { email: this.customers.get(customer)?.email ?? null },
        metadata: metadataIn(fields),
        success_url: fields.get("success_url"),
        cancel_url: fields.get("cancel_url"),
        asked: Object.fromEntries(fields),
      }),
    );
  }

  private addSession(
    made: Pick<Session, "mode" | "customer" | "customer_details" | "asked"> & Partial<Session>,
  ) {
    const id = this.newId("cs_test");
    const { asked } = made;
    const price = this.prices.get(asked["line_items[0][price]"] ?? "");
    const session: Session = {
      id,
      object: "checkout.session",
      status: "open",
      payment_status: "unpaid",
      url: `${this.url}/pay/${id}`,
      subscription: null,
      payment_intent: null,
      metadata: {},
      created: this.nowSeconds(),
      success_url: null,
      cancel_url: null,
      payment_link: null,
      amount_total: (price?.unit_amount ?? 0) * Number(asked["line_items[0][quantity]"] ?? 1),
      currency: price?.currency ?? "eur",
      ...made,
    };
    this.sessions.set(id, session);
    return session;
  }

  /** The pages of Checkout and of the portal. */
  private show(method: string, path: string, outgoing: ServerResponse): void {
    const [, kind, id = ""] = path.split("/");
    const redirect = (to: string | null) => outgoing.writeHead(303, { location: to ?? "/" }).end();
    const page = (words: string) =>
      outgoing
        .writeHead(200, { "content-type": "text/html", "cache-control": "no-store" })
        .end(`<!doctype html><title>Stripe</title>${words}`);
    if (kind === "pay") {
      const session = this.sessions.get(id);
      if (session?.status !== "open") return void page("<p>This checkout is closed.</p>");
      const cancel = `<a href="${session.cancel_url}">Back</a>`;
      if (method === "GET") return void page(`<form method="post"><button>Pay</button></form>${cancel}`);
      this.pay(id);
      return void redirect((session.success_url ?? "").replace("{CHECKOUT_SESSION_ID}", id));
    }
    if (kind === "portal") {
      if (method === "GET") return void page('<form method="post"><button>Cancel plan</button></form>');
      for (const { id: subscription, customer } of this.subscriptions.values()) {
        if (customer === id) this.cancelAtPeriodEnd(subscription);
      }
      return void redirect(this.returnUrl);
    }
    outgoing.writeHead(404).end();
  }
}

type Pause = Stripe.Subscription.StatusDetails.Paused.Subscription.Type;

const hasEnded = ({ status }: Pick<Subscription, "status">) =>
  ["canceled", "incomplete_expired"].includes(status);

const periodOf = ({ recurring }: Pick<Stripe.Price, "recurring">): number =>
  recurring ? secondsOf[recurring.interval as keyof typeof secondsOf] * recurring.interval_count : 0;

function metadataIn(fields: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    [...fields].flatMap(([name, value]) => {
      const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
      return field ? [[field, value]] : [];
    }),
  );
}

const expandedIn = (fields: URLSearchParams): string[] =>
  [...fields].flatMap(([name, value]) => (name.startsWith("expand") ? [value] : []));

export type Reply = { status: number; body: object };

const ok = (body: object): Reply => ({ status: 200, body });

/** A page of a list, as Stripe pages: newest first, ten unless asked for up to a hundred, after the object that is named. */
function list(all: object[], fields: URLSearchParams): Reply {
  type Listed = { id?: string; created?: number };
  const { gte, lt } = { gte: fields.get("created[gte]"), lt: fields.get("created[lt]") };
  const isAsked = ({ created = 0 }: Listed) =>
    (gte === null || created >= Number(gte)) && (lt === null || created < Number(lt));
  const newestFirst = all.filter(isAsked).reverse();
  const after = fields.get("starting_after");
  const start = after === null ? 0 : newestFirst.findIndex(({ id }: Listed) => id === after) + 1;
  const limit = Number(fields.get("limit") ?? 10);
  if (!(limit >= 1 && limit <= 100)) return refuse(400, undefined, "Invalid limit.");
  if (after !== null && start === 0) return refuse(400, "resource_missing", `No such object: '${after}'`);
  const data = newestFirst.slice(start, start + limit);
  return ok({ object: "list", data, has_more: start + data.length < newestFirst.length });
}

function refuse(status: number, code: string | undefined, message: string): Reply {
  return { status, body: { error: { type: "invalid_request_error", code, message } } };
}
