import { randomUUID } from "node:crypto";
import type { InferResult } from "kysely";
import type { Account } from "@/lib/accounts/account";
import type { openHolds } from "@/lib/accounts/credits/holds";
import { type CreditEntry, describeReason, spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { addCreditsAct } from "@/lib/admin/credits";
import { ActFold } from "@/lib/office/act-form";
import type { OfficeCall } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";

/** A number of credits, as it is read. */
export const inCredits = (thousandths: number) => toCredits(thousandths).toLocaleString("en");

type CreditsProps = {
  call: OfficeCall;
  account: Account;
  entries: CreditEntry[];
  holds: InferResult<ReturnType<typeof openHolds>>;
  most: number;
};

const shownAtOnce = 5;

/** The balance, what is held, the form that changes it, and the latest entries with the backend that wrote them. */
export function Credits({ call, account, entries, holds, most }: CreditsProps) {
  const more = entries.slice(shownAtOnce);
  return (
    <>
      <h2>Credits: {inCredits(spendable(account))}</h2>
      {holds.length > 0 && (
        <>
          <p className="quiet">{inCredits(account.held_thousandths)} more are held for work that goes on:</p>
          <Table
            rows={holds}
            most={most}
            columns={{
              Held: ({ thousandths }) => inCredits(thousandths),
              Backend: ({ backend_id }) => backend_id,
              Reason: ({ reason, reference }) => (
                <UntrustedText>{[reason, reference].filter(Boolean).join(": ")}</UntrustedText>
              ),
              "Free again at": ({ expires_at_ms }) => <Instant atMs={expires_at_ms} />,
            }}
          />
        </>
      )}
      <ActFold
        title="Change the balance"
        act={addCreditsAct}
        call={call}
        hidden={{ email: account.email, once: randomUUID() }}
        className="fields"
      >
        <button type="submit">Change the balance</button>
      </ActFold>
      <Entries rows={entries.slice(0, shownAtOnce)} />
      {more.length > 0 && (
        <details className="more">
          <summary>The {more.length} entries before</summary>
          <Entries rows={more} />
          {entries.length === most && <p className="quiet">At most {most} are shown here.</p>}
        </details>
      )}
    </>
  );
}

function Entries({ rows }: { rows: CreditEntry[] }) {
  return (
    <Table
      rows={rows}
      columns={{
        When: ({ created_at_ms }) => <Instant atMs={created_at_ms} />,
        Credits: ({ thousandths }) =>
          toCredits(thousandths).toLocaleString("en", { signDisplay: "exceptZero" }),
        Reason: (entry) => <UntrustedText>{describeReason(entry)}</UntrustedText>,
        ...(rows.some(({ backend_id }) => backend_id) && {
          "Written by": ({ backend_id, reference, reverses, hold_id }: CreditEntry) => (
            <UntrustedText>
              {backend_id &&
                `backend ${backend_id}${reverses ? ", gives a spend back" : hold_id ? ", settles a hold" : ""}${reference ? `: ${reference}` : ""}`}
            </UntrustedText>
          ),
        }),
        ...(rows.some(({ price_id }) => price_id) && {
          "Bought at Stripe": ({ price_id, checkout }: CreditEntry) =>
            price_id ? `${price_id} ${checkout ?? ""}` : "–",
        }),
      }}
      whenEmpty="No entries."
    />
  );
}
