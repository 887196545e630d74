import {
  type CustomerFilter,
  customerFilters,
  describeSum,
  isCustomerFilter,
  listCustomers,
  readCustomers,
  toCustomerRows,
} from "@/lib/accounts/list/customer-list";
import { FilterLinks } from "@/lib/office/filter-links";
import { FindForm } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { LongTable, perPage } from "@/lib/office/table";
import { AtStripe, Day, Person } from "@/lib/office/values";
import { describeDue } from "@/lib/plans/licence-state";
import { csvOf } from "@/lib/runtime/csv";

const maxRowsOfFile = 5000;
/** The states that do not say how the licence is. */
const plans = ["Licensed", "Trial", "Hobby", "Trial ended", "Licence ended"];

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
    text: input("find"),
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
      <FindForm
        of={customers.path}
        call={call}
        kept={{ filter }}
        label="Part of the email, or an id at Stripe (cus_, sub_, cs_, in_, ch_)"
        current={find}
      />
      <FilterLinks
        of={customers.path}
        kept={{ find }}
        name="filter"
        words="State"
        options={{ "": "all", ...customerFilters }}
        current={filter}
      />
      <LongTable
        rows={rows}
        columns={{
          Email: ({ email }) => <Person email={email} />,
          State: ({ state, licence }) => (licence && plans.includes(state) ? `${state} (${licence})` : state),
          "Unpaid since": ({ subscription }) => <Day atMs={subscription?.unpaid_since_ms} />,
          "Period ends": ({ subscription }) => <Day atMs={subscription?.period_ends_ms} />,
          Due: ({ subscription }) => (subscription && describeDue(subscription)) ?? "–",
          Paid: ({ sums }) => (sums.length > 0 ? sums.map(describeSum).join("; ") : "–"),
          "First payment": ({ sums }) => (
            <Day isFar atMs={sums.length > 0 ? Math.min(...sums.map(({ first_ms }) => first_ms)) : null} />
          ),
          Customer: ({ customerId }) => <AtStripe kind="customers" id={customerId} />,
        }}
        whenEmpty="No customer matches."
        hrefAfter={({ since_ms, id }) =>
          addressOf(customers.path, { filter, find, after: `${since_ms} ${id}` })
        }
      />
      <p className="quiet">
        <a href={addressOf("/customers.csv", { filter, find })}>These customers as CSV</a>, at most{" "}
        {maxRowsOfFile.toLocaleString("en")}: <code>billing list --csv</code> in the shell has all. Paid is
        what was read at Stripe since this version was installed: payments from the column’s first one on.
      </p>
    </>
  );
}

function readFile(call: OfficeCall): Promise<string> {
  const search = { ...readSearch(call), maxRows: maxRowsOfFile };
  return csvOf(listCustomers(call.db, search, call.nowMs), toCustomerRows);
}
