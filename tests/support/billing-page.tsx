import { Billing } from "@/app/(pages)/home/billing/billing";
import { hasOpen, Invoices, readInvoices } from "@/app/(pages)/home/billing/invoices";
import { LicenceChange } from "@/app/(pages)/home/billing/licence-change";
import { readChangesOf, readOffersTo, readTerms } from "@/app/(pages)/home/billing/offers";
import { PlanChoice } from "@/app/(pages)/home/billing/plan-choice";
import type { Account } from "@/lib/accounts/account";
import type { Db } from "@/lib/db/store";
import { renderHtml } from "@/lib/http/render-html";
import { currentLicence } from "@/lib/plans/licence-state";
import { contentsOf, readPlans } from "@/lib/plans/plan";
import { readBilling } from "@/lib/plans/purchases";
import { standingOf } from "@/lib/plans/standing";

/** An amount as a page says it, in the currency's smallest unit at Stripe. */
export type Money = { amount: number; currency: string };

/** The amounts that `/home/billing` says. */
export type BillingPage = {
  /** What is charged at the renewal; `undefined` if the page does not say so. */
  next: Money | undefined;
  due: Money | undefined;
  /** What the change that was asked about costs at once. */
  change: Money | undefined;
  offers: Map<string, Money>;
  changes: Map<string, Money>;
  invoices: { state: string; total: Money | undefined }[];
};

/** Renders what `/home/billing` shows an owner of what they pay, and reads its amounts. */
export async function readBillingPage(
  db: Db,
  account: Account,
  nowMs: number,
  change?: string,
): Promise<BillingPage> {
  const read = await readBilling(db, account.id);
  const bought = { ...read, licence: currentLicence(read.subscriptions) };
  const plans = await readPlans(db);
  const contents = contentsOf(account, plans) ?? { plan: "", features: [], limits: {} };
  const [offers, terms, invoices] = await Promise.all([
    readOffersTo(account, bought, plans, nowMs),
    readTerms(bought, plans, nowMs),
    readInvoices(bought, plans, nowMs),
  ]);
  const changes = await readChangesOf(bought, offers, { ...terms, chosen: change }, nowMs);
  const standing = standingOf(account, bought.licence, nowMs);
  const html = await renderHtml(
    <body>
      <Billing
        {...{ account, contents, plans, bought, terms, standing, offers, nowMs }}
        hasOpenInvoice={hasOpen(invoices)}
      />
      {changes.offer && <LicenceChange {...{ account, terms }} offer={changes.offer} cost={changes.cost} />}
      <PlanChoice
        {...{ account, contents, plans, bought, offers, changes, nowMs }}
        mayRun={standing.mayRun}
      />
      {bought.hasBought && <Invoices read={invoices} />}
    </body>,
  );
  const [billing = "", listed = ""] = html.split('aria-labelledby="invoices-heading"');
  const words = wordsOf(billing);
  const [, cost = ""] = /\bChange to (.*) at Stripe Keep your plan/.exec(words) ?? [];
  const [, now] = / until .* You pay now (.*) Next charge,/.exec(cost) ?? [];
  return {
    next: costIn(/Next charge, on [\w ]+? UTC (\S+(?: [\d,.]+)?)(?= (?!a |every ))/.exec(words)?.[1]),
    due: moneyIn(/You pay (?:now )?(?!at )(\S+(?: [\d,.]+)?)/.exec(words)?.[1]),
    change: costIn(now),
    offers: pricesIn(billing, /name="licence" value="(\w+)" aria-label="Buy/),
    changes: pricesIn(billing, /href="[^"]*\?change=(\w+)#change/),
    invoices: [...listed.matchAll(/<li>(.*?)<\/li>/g)].map(([, row = ""]) => {
      const [, state = "", total] = /<em\b[^>]*>(.*?)<\/em>.*<b>(.*?)<\/b>/.exec(row) ?? [];
      return { state, total: moneyIn(total) };
    }),
  };
}

/** The amounts next to the prices of a list, by what names a price in its row. */
function pricesIn(html: string, named: RegExp): Map<string, Money> {
  const rows = [...html.matchAll(/<li data-period="[^"]*">(.*?)<\/li>/g)].map(([, row = ""]) => row);
  return new Map(
    rows.flatMap((row): [string, Money][] => {
      const [, id] = named.exec(row) ?? [];
      const money = moneyIn(/<b class="price">(.*?)<\/b>/.exec(row)?.[1]);
      return id && money ? [[id, money]] : [];
    }),
  );
}

const wordsOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([.,])/g, "$1");

/** By https://docs.stripe.com/currencies: how many of the smallest unit at Stripe are one. */
const units: Record<string, [currency: string, inOne: number]> = {
  "€": ["eur", 100],
  "¥": ["jpy", 1],
  HUF: ["huf", 100],
  KWD: ["kwd", 1000],
};

const costIn = (words?: string) => (words === "Nothing" ? { amount: 0, currency: "" } : moneyIn(words));

/** The first amount in words. */
export function moneyIn(words = ""): Money | undefined {
  const [, sign, name = "", digits = ""] = /([-−]?)(€|¥|HUF|KWD)\s?([\d,]+(?:\.\d+)?)/.exec(words) ?? [];
  const [currency, inOne] = units[name] ?? [];
  if (!currency || !inOne) return undefined;
  return { amount: (sign ? -1 : 1) * Math.round(Number(digits.replaceAll(",", "")) * inOne), currency };
}
