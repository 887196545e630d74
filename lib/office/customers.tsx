import {
  type Customer,
  type CustomerFilter,
  customerFilters,
  isCustomerFilter,
  listCustomers,
  readCustomers,
  type Sum,
  toCustomerRows,
} from "@/lib/accounts/list/customer-list";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { moneyInWords } from "@/lib/config/money";
import { FilterLinks, Matches } from "@/lib/office/filter-links";
import { FindForm, nothingFound, soughtIn } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { State } from "@/lib/office/state";
import { LongTable, perPage } from "@/lib/office/table";
import { Day, Person } from "@/lib/office/values";
import { isNotBegun } from "@/lib/plans/entitlement-words";
import { describeDue } from "@/lib/plans/licence-state";
import { csvOf } from "@/lib/runtime/csv";

const maxRowsOfFile = 5000;

export const customers: OfficePage = {
  path: "/customers",
  name: "Customers",
  show,
  file: { path: "/customers.csv", read: readFile },
};

/** The address of the customers in a filter. */
export const customersIn = (filter: CustomerFilter) => addressOf(customers.path, { filter });

function readSearch({ input }: OfficeCall) {
  const [, since, id = ""] = /^(\d{1,15}) (\S+)$/.exec(input("after") ?? "") ?? [];
  const filter = input("filter");
  return {
    filter: isCustomerFilter(filter) ? filter : undefined,
    text: soughtIn(input("find")),
    after: since ? { since_ms: Number(since), id } : undefined,
  };
}

async function show(call: OfficeCall) {
  const { db, nowMs } = call;
  const search = readSearch(call);
  const { filter, text: find } = search;
  const rows = await readCustomers(db, search, perPage + 1, nowMs);
  return (
    <>
      <p className="lead">Everyone who began to buy at Stripe, the newest first.</p>
      <FindForm
        of={customers.path}
        call={call}
        kept={{ filter }}
        label="Part of the email, or an id at Stripe"
        current={find}
      />
      <FilterLinks
        of={customers.path}
        kept={{ find }}
        name="filter"
        words="State"
        options={{ "": "All", ...customerFilters }}
        current={filter}
      />
      <Matches
        of={customers.path}
        by={{ filter, find }}
        nouns={["customer", "customers"]}
        count={search.after ? undefined : rows.length}
      />
      <LongTable
        rows={rows}
        columns={{
          Email: ({ email }) => <Person email={email} />,
          State: (customer) => <CustomerState {...customer} nowMs={nowMs} />,
          Due: ({ subscription }) => (subscription && describeDue(subscription, moneyInWords)) ?? "–",
          Paid: ({ sums }) => (sums.length > 0 ? <Paid sums={sums} /> : "–"),
          Stripe: ({ email, customerId }) => (
            <a href={dashboardUrl(customerId)} aria-label={`Open ${email} at Stripe`}>
              Open
            </a>
          ),
        }}
        whenEmpty={nothingFound("No customer matches.", find)}
        hrefAfter={({ since_ms, id }) =>
          addressOf(customers.path, { filter, find, after: `${since_ms} ${id}` })
        }
      />
      <p className="quiet">
        <a href={addressOf("/customers.csv", { filter, find })}>These customers as CSV</a>, at most{" "}
        {maxRowsOfFile.toLocaleString("en")}: <code>billing list --csv</code> in the shell has all. Paid is
        what was read at Stripe since this version was installed.
      </p>
    </>
  );
}

/** What the customer has, how the licence is, since or until when, and of payments what that does not say. */
function CustomerState({ nowMs, ...customer }: Customer & { nowMs: number }) {
  const { state: tag, light, licence, subscription, filters } = customer;
  const [when, atMs] = subscription ? dayOf(subscription, licence, nowMs) : [];
  const more = filters.filter(
    (filter) => filter === "disputed" || (filter === "refunded" && licence !== "returned"),
  );
  return (
    <>
      <State standing={{ tag, light }} groups={more.map((filter) => customerFilters[filter])} />
      {subscription && atMs !== null && !(licence && isNotBegun(licence)) && (
        <small>
          {when} <Day atMs={atMs} />
        </small>
      )}
    </>
  );
}

/** The day of a licence that an operator asks about. */
export function dayOf(
  {
    unpaid_since_ms,
    ends_at_ms,
    period_ends_ms,
  }: Pick<NonNullable<Customer["subscription"]>, "unpaid_since_ms" | "ends_at_ms" | "period_ends_ms">,
  licence: Customer["licence"],
  nowMs: number,
): [words: string | undefined, atMs: number | null] {
  if (unpaid_since_ms !== null) return [unpaid_since_ms > nowMs ? "due" : "since", unpaid_since_ms];
  if (ends_at_ms !== null) return [ends_at_ms > nowMs ? "ends" : "ended", ends_at_ms];
  return [licence === "renews" ? "renews" : "period ends", period_ends_ms];
}

/** What was paid in each currency, and what of it was returned. */
const Paid = ({ sums }: { sums: Sum[] }) =>
  sums.map(({ currency, paid, returned }) => (
    <div key={currency}>
      {moneyInWords(paid, currency)}{" "}
      {returned > 0 && <small>{moneyInWords(returned, currency)} returned</small>}
    </div>
  ));

function readFile(call: OfficeCall): AsyncIterable<string> {
  const search = { ...readSearch(call), maxRows: maxRowsOfFile };
  return csvOf(listCustomers(call.db, search, call.nowMs), toCustomerRows);
}
