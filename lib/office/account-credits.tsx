import type { Account } from "@/lib/accounts/account";
import { addCredits } from "@/lib/accounts/accounts";
import { parseThousandths, toCredits } from "@/lib/accounts/ledger";
import { Field, Form } from "@/lib/office/forms";
import {
  accountAddress,
  conflict,
  invalid,
  type OfficeAct,
  type OfficeCall,
  requireEmail,
  requireLine,
} from "@/lib/office/page";
import { Instant, Table, Their } from "@/lib/office/parts";

type CreditsProps = {
  call: OfficeCall;
  account: Account;
  entries: { thousandths: number; reason: string; created_at_ms: number }[];
};

/** The balance, the form that changes it, and the latest entries. */
export function Credits({ call, account, entries }: CreditsProps) {
  return (
    <>
      <h2>Credits: {toCredits(account.creditThousandths).toLocaleString("en")}</h2>
      <Form
        act={giveCredits}
        hidden={{ email: account.email, seen: describeBalance(account) }}
        className="filter"
      >
        <Field call={call} name="amount" label="Amount to add, or to take with a minus" inputMode="decimal" />
        <Field call={call} name="reason" label="Reason, which the owner reads" maxLength={500} />
        <button type="submit">Change the balance</button>
      </Form>
      <Table
        rows={entries}
        columns={[
          ["When", ({ created_at_ms }) => <Instant atMs={created_at_ms} nowMs={call.nowMs} />],
          [
            "Credits",
            ({ thousandths }) => toCredits(thousandths).toLocaleString("en", { signDisplay: "exceptZero" }),
          ],
          ["Reason", ({ reason }) => <Their>{reason}</Their>],
        ]}
        whenEmpty="No entries."
      />
    </>
  );
}

/** The balance that a form was made from, so that a form that is sent twice counts once. */
const describeBalance = ({ id, creditThousandths }: Account) => `${id} ${creditThousandths}`;

export const giveCredits: OfficeAct = {
  path: "/account/credits",
  name: "change the balance",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const thousandths = parseThousandths(input("amount") ?? "");
    if (!thousandths) throw invalid("The amount must be a number other than 0, with at most three decimals.");
    const reason = requireLine("The reason", input("reason"));
    await addCredits(db, email, { thousandths, reason }, nowMs, by, (current) => {
      if (input("seen") === describeBalance(current)) return;
      throw conflict(`The balance has changed meanwhile: it is now ${toCredits(current.creditThousandths)}.`);
    });
    return accountAddress(email, "credits");
  },
};
