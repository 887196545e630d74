import type { Stripe } from "stripe";
import { expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { byChance, linesOf } from "@/tests/support/page-lines";
import type { Buyer } from "@/tests/support/shop";

/* What a licence in each state at Stripe lets an account do, and what its owner reads of it, in `stripe-states.txt`. */

type Row = [name: string, terms: string[], become: (subscription: string) => void];
type Invoice = "paid" | "draft" | "open" | "void" | "uncollectible";
type Status = Stripe.Subscription.Status;

const clock = makeClock(Date.UTC(2027, 2, 1, 12));
const [engine = expect.fail("no engine")] = engines;
const shop = await startShop(engine, { SUPPORT_EMAIL: "help@example.com", ...clock.environment });
const { stripe } = shop;
stripe.nowMs = clock.now;
for (const [id, unit_amount] of Object.entries({ price_small: 5900, price_big: 9900 })) {
  const limit = String(unit_amount / 100);
  const price = { ...stripe.prices.get("price_more"), id, unit_amount, metadata: { assistant_limit: limit } };
  stripe.prices.set(id, price as never);
}

const ended = ["--trial-ends", "2027-01-01"];
const besides = {
  "a trial": ["--trial-ends", "2027-04-20"],
  "a gift": ["--plan", "licensed", "--until", "2027-04-30"],
};

/** Gives the latest invoice of a subscription a status, with what is then left to pay, and the subscription one too. */
function become(status: Status, invoice?: Invoice) {
  return (subscription: string) => {
    const latest = stripe.invoices.get(stripe.subscriptions.get(subscription)?.latest_invoice ?? "");
    const left = invoice === "paid" ? 0 : (latest?.total ?? 0);
    if (latest && invoice)
      Object.assign(latest, { status: invoice, amount_paid: latest.total - left, amount_remaining: left });
    const ended_at = status === "canceled" || status === "incomplete_expired" ? clock.now() / 1000 : null;
    stripe.change(subscription, { status, ended_at });
  };
}

/** Leaves a change of its price without payment, with an invoice that ends like this. */
function changeTo(price: string, invoice: Invoice, subscription: string): void {
  stripe.switchPrice(subscription, price, { isPaid: false });
  become(invoice === "open" ? "past_due" : "active", invoice)(subscription);
}

const invoices = ["paid", "draft", "open", "void", "uncollectible"] as const;
const atStripe: [status: Status, invoices: readonly Invoice[]][] = [
  ["active", invoices],
  ["trialing", ["paid", "open"]],
  ["past_due", ["draft", "open", "void", "uncollectible"]],
  ["unpaid", ["draft", "open", "uncollectible"]],
  ["paused", ["paid", "open", "void"]],
  ["incomplete", ["open", "void"]],
  ["incomplete_expired", ["void"]],
  ["canceled", ["paid", "open"]],
];
const rows: Row[] = [
  ...atStripe.flatMap(([status, invoices]) =>
    invoices.map((invoice): Row => [`${status}, its invoice ${invoice}`, ended, become(status, invoice)]),
  ),
  ...Object.entries({ nothing: ended, ...besides }).map(
    ([name, terms]): Row => [
      `incomplete, its invoice at a bank, beside ${name}`,
      terms,
      (id) => {
        become("incomplete", "open")(id);
        stripe.askBank(id);
      },
    ],
  ),
  ...Object.entries(besides).flatMap(([name, terms]) =>
    (["past_due", "unpaid", "paused", "incomplete", "canceled"] as const).map(
      (status): Row => [`${status}, beside ${name}`, terms, become(status, "open")],
    ),
  ),
  ...(["active", "past_due", "trialing", "unpaid"] as const).map(
    (status): Row => [
      `${status}, cancelled`,
      ended,
      (subscription) => {
        stripe.cancelAtPeriodEnd(subscription);
        become(status, status === "active" ? "paid" : "open")(subscription);
      },
    ],
  ),
  [
    "past_due, its invoice at a bank",
    ended,
    (id) => {
      become("past_due", "open")(id);
      stripe.askBank(id);
    },
  ],
  [
    "active, cancelled for a day after the next charge",
    ended,
    (id) => stripe.change(id, { cancel_at: stripe.itemOf(id).current_period_end + 20 * 86_400 }),
  ],
  ...(["keep_as_draft", "mark_uncollectible", "void"] as const).flatMap((behavior) =>
    [null, Date.UTC(2027, 3, 5) / 1000].map(
      (resumes_at): Row => [
        `not collected: ${behavior}, ${resumes_at ? "until 5 April" : "for good"}`,
        ended,
        (subscription) => stripe.change(subscription, { pause_collection: { behavior, resumes_at } }),
      ],
    ),
  ),
  ...invoices.map(
    (invoice): Row => [
      `changed, the change's invoice ${invoice}`,
      ended,
      (subscription) => changeTo("price_small", invoice, subscription),
    ],
  ),
  ...(["paid", "void", "uncollectible"] as const).map(
    (invoice): Row => [
      `changed twice, the first change's invoice ${invoice}, the second's open`,
      ended,
      (subscription) => {
        changeTo("price_small", invoice, subscription);
        changeTo("price_big", "open", subscription);
      },
    ],
  ),
  [
    "changed, the change's invoice open, that of the renewal void",
    ended,
    (subscription) => {
      changeTo("price_small", "open", subscription);
      stripe.renew(subscription, { isPaid: false });
      become("active", "void")(subscription);
    },
  ],
  [
    "changed, the change's invoice void, then paused",
    ended,
    (subscription) => {
      changeTo("price_small", "void", subscription);
      stripe.pause(subscription);
    },
  ],
  [
    "changed to a year, the change's invoice void, then paused",
    ended,
    (subscription) => {
      changeTo("price_team", "void", subscription);
      stripe.pause(subscription);
    },
  ],
  ["refunded in part", ended, (id) => stripe.refundCharge(stripe.chargeOf(id), 900)],
  [
    "refunded, and cancelled",
    ended,
    (id) => {
      stripe.refundCharge(stripe.chargeOf(id));
      stripe.cancelAtPeriodEnd(id);
    },
  ],
  [
    "refunded, but the refund failed",
    ended,
    (id) => {
      stripe.refundCharge(stripe.chargeOf(id));
      stripe.failRefund(stripe.chargeOf(id));
    },
  ],
  ["disputed", ended, (id) => void stripe.dispute(stripe.chargeOf(id))],
  ["disputed and won", ended, (id) => stripe.dispute(stripe.chargeOf(id)).close("won")],
  ["disputed and lost", ended, (id) => stripe.dispute(stripe.chargeOf(id)).close("lost")],
];

/** What the API answers of an account, and what its owner reads of the plan: in one line. */
async function stand({ browser }: Buyer): Promise<string> {
  const lines = linesOf((await browser.open("/home/billing")).text);
  const { ok, status, assistantLimit } = JSON.parse((await browser.open("/api/entitlement")).text);
  const from = lines.findIndex((line) => line.startsWith("# ")) + 1;
  const heading = lines.findIndex((line, at) => at > from && line.startsWith("## "));
  const to = lines.findIndex((line, at) => at > heading && line.startsWith("## "));
  const may = ok ? `${status}, ${assistantLimit ?? "any number of"} assistants` : status;
  return [may, ...lines.slice(from, to)].join(" / ").replaceAll(byChance, "…");
}

it("gives what was paid for, and says what is to be done", async () => {
  const buyers: Buyer[] = [];
  const licences: string[] = [];
  for (const [, terms] of rows) {
    const { buyer, subscription } = await shop.admitLicensed(...terms);
    buyers.push(buyer);
    licences.push(subscription);
  }
  clock.pass(10 * dayMs);
  for (const [at, [, , become]] of rows.entries()) become(licences[at] ?? "");
  const said: string[][] = rows.map(([name]) => [`# ${name}`]);
  for (const day of [10, 38]) {
    await shop.reconcile();
    for (const [at, buyer] of buyers.entries()) said[at]?.push(`day ${day}: ${await stand(buyer)}`);
    clock.pass(28 * dayMs);
  }
  await expect(`${said.flat().join("\n")}\n`).toMatchFileSnapshot("stripe-states.txt");
}, 120_000);
