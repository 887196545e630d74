import { readInvoicesOf } from "@/lib/billing/customer/invoices";
import { settings } from "@/lib/config/settings";
import { errorCatalogue } from "@/lib/http/errors";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { explainedOnBilling } from "../forms";
import { ownerPage } from "../owner-page";
import { AutomaticPurchase, readAutomatic } from "./automatic-purchase";
import { Billing } from "./billing";
import { CheckoutNote } from "./checkout-note";
import { CreditLimits, readLimitsOf } from "./credit-limits";
import { Credits, readCredits } from "./credits";
import { hasOpen, Invoices } from "./invoices";
import { LicenceChange } from "./licence-change";
import { readChangesOf, readOffersTo, readTerms } from "./offers";
import { isSpent, readSpendingOf, Spending } from "./spending";

const problems = {
  ...Object.fromEntries(
    explainedOnBilling.map((code) => {
      const { message, hint } = errorCatalogue[code];
      return [code, { words: `${message} ${hint}` }];
    }),
  ),
  confirm: { words: "Confirm first that it is you, then turn it on." },
  "no-card": {
    words: "There is no saved card. Add one under “Manage billing”, then turn it on. Nothing was changed.",
  },
};

/** What the company costs, what it includes, and the history of its credits. */
export const { GET } = toPlatform(
  ownerPage(pages.billing, problems, async (visit) => {
    const { account, contents, bought, state, query, nowMs } = visit;
    const [offers, terms, changes, invoices] = bought
      ? await Promise.all([
          readOffersTo(account, bought, nowMs),
          readTerms(bought, nowMs),
          readChangesOf(bought, query.change, nowMs),
          readInvoicesOf(bought, nowMs),
        ])
      : [];
    const credits = await readCredits(account.id, query.before);
    const spending = await readSpendingOf(account.id, nowMs);
    const limits = await readLimitsOf(account.id, nowMs);
    const automatic =
      limits !== undefined && isSpent(spending) ? await readAutomatic(visit, limits) : undefined;
    return (
      <>
        <h1>Billing</h1>
        <CheckoutNote outcome={query.checkout} isLicensed={account.plan === "licensed"} />
        <div className="columns">
          <div>
            {bought && offers ? (
              <Billing
                {...{ account, bought, offers, terms, standing: state }}
                hasOpenInvoice={hasOpen(invoices)}
              >
                {changes && account.deletes_at_ms === null && (
                  <LicenceChange account={account} {...changes} />
                )}
              </Billing>
            ) : (
              <section className="card" aria-labelledby="plan">
                <h2 id="plan">Your plan</h2>
                <p>
                  {state.tag}.{" "}
                  {settings().billing
                    ? "We cannot show your purchases at the moment."
                    : "You pay nothing here."}
                </p>
              </section>
            )}
            {contents.limits.assistants != null && (
              <dl className="card total">
                <dt>Assistants you may hire</dt>
                <dd>{contents.limits.assistants}</dd>
              </dl>
            )}
          </div>
          <div>
            <Credits account={account} read={credits} nowMs={nowMs} />
            {isSpent(spending) && (
              <>
                <Spending read={spending} />
                <CreditLimits
                  account={account}
                  read={limits}
                  isSaved={query.limits !== undefined}
                  nowMs={nowMs}
                />
                {automatic && limits !== undefined && offers && (
                  <AutomaticPurchase visit={visit} limits={limits} read={automatic} offers={offers.credits} />
                )}
              </>
            )}
            {bought?.hasBought && <Invoices read={invoices} />}
          </div>
        </div>
      </>
    );
  }),
);
