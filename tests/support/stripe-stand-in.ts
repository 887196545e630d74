import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Stripe } from "stripe";
import type { Answer, Environment, Service } from "@/tests/support/service";

/**
 * How it handles a request. `lost` carries it out and drops the connection, `late` answers after the service's deadline,
 * `silent` never answers.
 */
export type Fault = "none" | "429" | "500" | "401" | "late" | "silent" | "reset" | "lost";

type Session = Pick<
  Stripe.Checkout.Session,
  "id" | "object" | "mode" | "status" | "payment_status" | "url" | "customer" | "subscription" | "metadata"
> &
  Pick<Stripe.Checkout.Session, "payment_intent" | "created" | "success_url" | "cancel_url">;
type Subscription = Pick<
  Stripe.Subscription,
  "id" | "object" | "status" | "created" | "customer" | "cancel_at" | "cancel_at_period_end" | "metadata"
> & { items: { data: Pick<Stripe.SubscriptionItem, "price" | "current_period_end">[] } };
type Invoice = Pick<Stripe.Invoice, "id" | "object" | "status"> & {
  lines: { data: { period: Stripe.InvoiceLineItem.Period }[] };
};
type Charge = Pick<Stripe.Charge, "id" | "object" | "amount" | "amount_refunded">;
type Intent = Pick<Stripe.PaymentIntent, "id" | "object" | "status"> & { latest_charge: Charge | null };
type Price = Pick<
  Stripe.Price,
  "id" | "object" | "active" | "type" | "currency" | "unit_amount" | "recurring" | "metadata" | "nickname"
> & { product: Pick<Stripe.Product, "id" | "object" | "name"> };
type Endpoint = Pick<Stripe.WebhookEndpoint, "id" | "object" | "url" | "status" | "enabled_events">;
type Event = Pick<Stripe.Event, "id" | "object" | "type" | "created"> & { data: { object: object } };

const secret = "whsec_standin";
const monthMs = 30 * 24 * 60 * 60 * 1000;

const recurring = { interval: "month", interval_count: 1 } as Stripe.Price.Recurring;
const product = { id: "prod_1", object: "product", name: "Office licence" } as const;
const price = { object: "price", active: true, currency: "eur", nickname: null, product } as const;

/**
 * A fake Stripe account on loopback: its API as far as the service uses it, typed by Stripe's own types, its Checkout and
 * portal as small pages, and its webhook deliveries. A test decides when time passes and when an event arrives.
 */
export class StripeStandIn {
  /** Every request to the API, for example `POST /v1/customers`. */
  readonly requests: string[] = [];
  readonly customers = new Map<string, { email: string; account: string }>();
  readonly sessions = new Map<string, Session>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice[]>();
  readonly prices = new Map<string, Price>(
    [
      { ...price, id: "price_month", type: "recurring", unit_amount: 4900, recurring, metadata: {} } as const,
      {
        ...price,
        id: "price_team",
        type: "recurring",
        unit_amount: 99_000,
        recurring: { ...recurring, interval: "year" },
        nickname: "Team licence",
        metadata: { assistant_limit: "25" },
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

  private constructor(private readonly server: Server) {}

  static async start(): Promise<StripeStandIn> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const standIn = new StripeStandIn(server);
    server.on("request", (incoming, outgoing) => void standIn.receive(incoming, outgoing).catch(() => {}));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
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
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
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
    const { latest_charge: charge, id } = this.find(this.sessions, sessionId)
      .payment_intent as unknown as Intent;
    if (!charge) throw new Error("nothing was paid");
    charge.amount_refunded += amount;
    this.tell("charge.refunded", { ...charge, payment_intent: id });
  }

  /** Changes a subscription as Stripe, its customer or its operator does. */
  change(
    id: string,
    changed: Partial<Subscription>,
    type: Event["type"] = "customer.subscription.updated",
  ): void {
    Object.assign(this.find(this.subscriptions, id), changed);
    this.tell(type, this.find(this.subscriptions, id));
  }

  cancelAtPeriodEnd(id: string): void {
    const { items } = this.find(this.subscriptions, id);
    this.change(id, { cancel_at_period_end: true, cancel_at: items.data[0]?.current_period_end ?? null });
  }

  /** The subscription ends: at its period's end, or at once. */
  end(id: string): void {
    this.change(id, { status: "canceled" }, "customer.subscription.deleted");
  }

  /** The next period begins, paid or not. */
  renew(id: string, { isPaid = true } = {}): void {
    const { items } = this.find(this.subscriptions, id);
    const [item] = items.data;
    if (!item) throw new Error("no item");
    item.current_period_end += monthMs / 1000;
    this.invoice(id, item.current_period_end, isPaid ? "paid" : "open");
    this.change(id, { status: isPaid ? "active" : "past_due" });
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
    const id = this.newId("sub");
    const price = this.find(this.prices, session.metadata?.price ?? "");
    const current_period_end = this.nowSeconds() + monthMs / 1000;
    this.subscriptions.set(id, {
      id,
      object: "subscription",
      status: "active",
      created: this.nowSeconds(),
      customer: session.customer as string,
      cancel_at: null,
      cancel_at_period_end: false,
      metadata: session.metadata ?? {},
      items: { data: [{ price: price as Stripe.Price, current_period_end }] },
    });
    this.invoice(id, current_period_end, "paid");
    session.subscription = id;
    this.tell("customer.subscription.created", this.find(this.subscriptions, id));
  }

  private invoice(subscription: string, end: number, status: "paid" | "open"): void {
    const lines = { data: [{ period: { start: end - monthMs / 1000, end } }] };
    const invoices = this.invoices.get(subscription) ?? [];
    this.invoices.set(subscription, [
      { id: this.newId("in"), object: "invoice", status, lines },
      ...invoices,
    ]);
  }

  private makeIntent(session: Session, status: Stripe.PaymentIntent["status"]): Intent {
    const amount = this.prices.get(session.metadata?.price ?? "")?.unit_amount ?? 0;
    const charge = { id: this.newId("ch"), object: "charge", amount, amount_refunded: 0 } as const;
    return {
      id: this.newId("pi"),
      object: "payment_intent",
      status,
      latest_charge: status === "succeeded" ? charge : null,
    };
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
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (fault === "silent") return;
    if (fault === "reset") return void incoming.socket.destroy();
    if (fault === "late") await sleep(3000);
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
      return this.answer(method, pathname, method === "GET" ? searchParams : new URLSearchParams(body));
    };
    const answer = known?.answer ?? work();
    const kept = { body, answer, isDone: false };
    if (key && !known) this.remembered.set(key, kept);
    const reply = await answer;
    await this.whenDone(request);
    kept.isDone = true;
    send(reply);
  }

  private answer(method: string, path: string, fields: URLSearchParams): Reply {
    const [, , kind = "", id = "", action] = path.replace("checkout/sessions", "sessions").split("/");
    const of = <T>(map: Map<string, T>) => {
      const found = map.get(decodeURIComponent(id));
      return found ? ok(found as object) : refuse(404, "resource_missing", `No such ${kind}: '${id}'`);
    };
    const route = `${method} ${kind}${id ? "/id" : ""}${action ? `/${action}` : ""}`;
    switch (route) {
      case "POST customers": {
        const customer = this.newId("cus");
        const account = fields.get("metadata[account]") ?? "";
        this.customers.set(customer, { email: fields.get("email") ?? "", account });
        return ok({ id: customer, object: "customer" });
      }
      case "GET customers/id":
        return of(this.customers);
      case "DELETE customers/id":
        for (const { id: subscription, customer, status } of this.subscriptions.values()) {
          if (customer === id && status !== "canceled") this.end(subscription);
        }
        return this.customers.delete(id)
          ? ok({ id, object: "customer", deleted: true })
          : refuse(404, "resource_missing", "No such customer");
      case "POST sessions":
        return this.createSession(fields);
      case "GET sessions/id":
        return of(this.sessions);
      case "GET sessions":
        return list(
          [...this.sessions.values()].filter(
            ({ payment_intent }) => (payment_intent as Intent | null)?.id === fields.get("payment_intent"),
          ),
        );
      case "POST sessions/id/expire": {
        const session = this.sessions.get(id);
        if (session?.status !== "open") return refuse(400, undefined, "Only open checkouts can be expired.");
        session.status = "expired";
        session.url = null;
        this.tell("checkout.session.expired", session);
        return ok(session);
      }
      case "GET subscriptions/id":
        return of(this.subscriptions);
      case "GET subscriptions":
        return list(
          [...this.subscriptions.values()].filter(({ customer }) => customer === fields.get("customer")),
        );
      case "GET invoices":
        return list(
          (this.invoices.get(fields.get("subscription") ?? "") ?? []).filter(({ status }) =>
            [status, null].includes(fields.get("status")),
          ),
        );
      case "GET prices/id":
        return of(this.prices);
      case "GET webhook_endpoints":
        return list(this.endpoints);
      case "POST billing_portal/id": {
        const url = `${this.url}/portal/${fields.get("customer")}?to=${encodeURIComponent(fields.get("return_url") ?? "")}`;
        this.returnUrl = fields.get("return_url") ?? "";
        return ok({ id: this.newId("bps"), object: "billing_portal.session", url });
      }
      default:
        return refuse(404, undefined, `Unrecognized request URL (${route}).`);
    }
  }

  private returnUrl = "";

  private createSession(fields: URLSearchParams): Reply {
    const customer = fields.get("customer") ?? "";
    if (!this.customers.has(customer)) return refuse(400, "resource_missing", "No such customer");
    if (!this.prices.has(fields.get("line_items[0][price]") ?? "")) {
      return refuse(400, "resource_missing", "No such price");
    }
    const id = this.newId("cs_test");
    const metadata = Object.fromEntries(
      [...fields].flatMap(([name, value]) => {
        const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
        return field ? [[field, value]] : [];
      }),
    );
    const session: Session = {
      id,
      object: "checkout.session",
      mode: fields.get("mode") as Stripe.Checkout.Session.Mode,
      status: "open",
      payment_status: "unpaid",
      url: `${this.url}/pay/${id}`,
      customer,
      subscription: null,
      payment_intent: null,
      metadata,
      created: this.nowSeconds(),
      success_url: fields.get("success_url"),
      cancel_url: fields.get("cancel_url"),
    };
    this.sessions.set(id, session);
    return ok(session);
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

type Reply = { status: number; body: object };

const ok = (body: object): Reply => ({ status: 200, body });
const list = (data: object[]): Reply => ok({ object: "list", data, has_more: false });

function refuse(status: number, code: string | undefined, message: string): Reply {
  return { status, body: { error: { type: "invalid_request_error", code, message } } };
}
