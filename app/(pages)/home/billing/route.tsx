import { settings } from "@/lib/config/settings";
import { errorCatalogue } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { explainedOnBilling } from "../forms";
import { ownerPage } from "../owner-page";
import { AutomaticPurchase, readAutomatic } from "./automatic-purchase";
import { Billing, Packs } from "./billing";
import { CheckoutNote } from "./checkout-note";
import { CreditLimits, readLimitsOf } from "./credit-limits";
import { Credits, readCredits } from "./credits";
import { hasOpen, Invoices, readInvoices } from "./invoices";
import { LicenceChange } from "./licence-change";
import { readChangesOf, readOffersTo, readTerms } from "./offers";
import { PlanChoice } from "./plan-choice";

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

/** The problems of the two forms at the end, which are folded otherwise. */
const problemsOfForms = new Set(["confirm", "no-card", "limit_failed", "limit_required", "paid_only"]);

/** What the company costs, the plans, and the history of the credits. */
export const { GET } = ownerPage(pages.billing, problems, async (visit) => {
  const { account, contents, plans, bought, state, isUnsold, query, nowMs } = visit;
  const [offers, terms, invoices] = bought
    ? await Promise.all([
        readOffersTo(account, bought, plans, nowMs),
        readTerms(bought, plans, nowMs),
        readInvoices(bought, plans, nowMs),
      ])
    : [];
  const asked = { ...terms, chosen: query.change };
  const changes = bought && offers && (await readChangesOf(bought, offers, asked, nowMs));
  const credits = await readCredits(account.id, query, nowMs);
  const limits = await readLimitsOf(account.id, nowMs);
  const isSpent = settings().backend !== undefined || (limits !== undefined && limits !== null);
  const automatic = limits !== undefined && isSpent ? await readAutomatic(visit, limits) : undefined;
  const isOfForms = problemsOfForms.has(query.problem ?? "");
  const isOwing = hasOpen(invoices);
  return (
    <>
      <h1>Billing</h1>
      <CheckoutNote outcome={query.checkout} isLicensed={account.plan === "licensed"} />
      {changes?.offer && account.deletes_at_ms === null ? (
        <LicenceChange {...{ account, terms }} offer={changes.offer} cost={changes.cost} />
      ) : (
        settings().billing && (
          <Billing
            {...{ account, contents, plans, bought, terms, offers, nowMs }}
            standing={state}
            hasOpenInvoice={isOwing}
          />
        )
      )}
      {isOwing && <Invoices read={invoices} />}
      <PlanChoice {...{ account, contents, plans, bought, offers, changes, nowMs }} mayRun={state.mayRun} />
      {bought?.hasBought && !isOwing && <Invoices read={invoices} />}
      <Credits
        {...{ account, isUnsold }}
        plan={plans.get(contents.plan)}
        mayRun={state.mayRun}
        read={credits}
      >
        {offers && <Packs offers={offers.credits} accountId={account.id} />}
      </Credits>
      {isSpent && (
        <ul className="folded">
          <CreditLimits
            {...{ account, nowMs }}
            read={limits}
            isSaved={query.limits !== undefined}
            isOpen={isOfForms}
          />
          {automatic && limits !== undefined && offers && (
            <AutomaticPurchase
              {...{ visit, limits }}
              read={automatic}
              offers={offers.credits}
              isOpen={query.automatic !== undefined || isOfForms}
            />
          )}
        </ul>
      )}
    </>
  );
});
