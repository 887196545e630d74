import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import type { Engine, PrepareOptions } from "@/tests/support/engines";
import { sendDue } from "@/tests/support/mailbox";
import { type Answer, type Environment, Service, type ServiceOptions } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

export type Buyer = { id: string; email: string; browser: Browser };

/** A service that sells at a fake Stripe, with a clock that a test advances for both. */
export async function openShop(
  engine: Engine,
  environment: Environment = {},
  options?: ServiceOptions & PrepareOptions,
) {
  const stage = await engine.prepare(options);
  const stripe = await StripeStandIn.start();
  const clock = makeClock();
  let aheadMs = 0;
  stripe.nowMs = () => Date.now() + aheadMs;
  const settings = { ...stage.environment, ...stripe.environment, ...clock.environment, ...environment };
  const service = await Service.start(settings, options);
  let buyers = 0;

  async function admit(...terms: string[]): Promise<Buyer> {
    const email = `buyer-${++buyers}@example.com`;
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, ...terms);
    return { id, email, browser: await Browser.signIn(service, email) };
  }

  async function deliverAll(): Promise<void> {
    for (const event of stripe.takeEvents()) {
      const { status, text } = await stripe.deliver(service, event);
      if (status !== 200) throw new Error(`${event.type}: ${status} ${text}`);
    }
  }

  async function begin(
    { id, browser }: Buyer,
    fields: Record<string, string> = { licence: "price_month" },
  ): Promise<string> {
    return sessionIn(await browser.submit("/home/checkout", { account: id, ...fields }));
  }

  async function buy(buyer: Buyer, fields?: Record<string, string>) {
    const session = await begin(buyer, fields);
    stripe.pay(session);
    return { session, subscription: String(stripe.sessions.get(session)?.subscription) };
  }

  return {
    stage,
    stripe,
    service,
    pass(ms: number): void {
      aheadMs += ms;
      clock.pass(ms);
    },
    /** Adds an account and signs its owner in. */
    admit,
    /** Delivers all waiting events, each once and in order. */
    deliverAll,
    /** Adds an account whose owner buys a licence. Returns them, and the licence's ids at Stripe. */
    async admitLicensed(...terms: string[]) {
      const buyer = await admit(...terms);
      const bought = await buy(buyer);
      await deliverAll();
      return { buyer, ...bought };
    },
    /** What the account is, and its credits and limit, as the operator sees them. */
    async termsOf({ email }: { email: string }) {
      const { status, trialEndsAt, assistantLimit, credits } = await service.adminJson(
        "account",
        "show",
        email,
      );
      return { plan: status, trialEndsAt, assistantLimit, credits };
    },
    /** Presses a button that buys. Returns Stripe's id of the checkout that the page leads to. */
    begin,
    /** Buys a licence, and takes the licence's id at Stripe. The service has heard nothing yet. */
    buy,
    /** Sends the mails that are due now, each of them. */
    sendDue: () => sendDue(service, stage, stripe.nowMs()),
    async reconcile(...email: string[]) {
      return service.adminJson<{ read: number; failed: number }>("billing", "reconcile", ...email);
    },
    async close(): Promise<void> {
      await service.stop();
      await stripe.stop();
      await stage.clear();
    },
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Stripe's id of the checkout that an answer leads to. */
export function sessionIn({ status, text }: Answer): string {
  const [, session] = /<a href="[^"]*\/pay\/(cs_\w+)"/.exec(text) ?? [];
  if (status !== 200 || !session) throw new Error(`no checkout: ${status} ${text}`);
  return session;
}
