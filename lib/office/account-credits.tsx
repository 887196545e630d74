import type { Account } from "@/lib/accounts/account";
import { addCredits } from "@/lib/accounts/accounts";
import { parseThousandths, toCredits } from "@/lib/accounts/ledger";
import {
  accountPath,
  addressOf,
  conflict,
  fieldValue,
  invalid,
  type OfficeAct,
  type OfficeCall,
  requireEmail,
  requireLine,
} from "@/lib/office/page";
import { Instant, Table, Their } from "@/lib/office/parts";

type Entry = { thousandths: number; reason: string; created_at_ms: number };

/** The balance, the form that changes it, and the latest entries. */
export function Credits({
  call,
  account,
  entries,
}: {
  call: OfficeCall;
  account: Account;
  entries: Entry[];
}) {
  return (
    <>
      <h2>Credits: {toCredits(account.creditThousandths).toLocaleString("en")}</h2>
      <form method="post" action={giveCredits.path} className="filter">
        <input type="hidden" name="email" value={account.email} />
        <input type="hidden" name="seen" value={describeBalance(account)} />
        <label>
          Amount to add, or to take with a minus
          <input
            name="amount"
            inputMode="decimal"
            autoComplete="off"
            defaultValue={fieldValue(call, "amount")}
          />
        </label>
        <label>
          Reason, which the owner reads
          <input name="reason" autoComplete="off" maxLength={500} defaultValue={fieldValue(call, "reason")} />
        </label>
        <button type="submit">Change the balance</button>
      </form>
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
    return addressOf({ path: accountPath }, { email, done: "credits" });
  },
};
