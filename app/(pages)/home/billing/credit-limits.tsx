import type { Account } from "@/lib/accounts/account";
import { readCreditLimits } from "@/lib/accounts/credits/credit-limits";
import { monthOf } from "@/lib/accounts/credits/credit-watch";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { forms } from "@/lib/http/register/forms";
import { formatInstant } from "../../instant";
import { PostForm } from "../../post-form";
import { readPart } from "../../read-part";
import { formatCredits } from "./format-credits";

/** What an owner has set for their credits: null before they do, `undefined` if it cannot be read. */
export const readLimitsOf = (accountId: string, nowMs: number) =>
  readPart(
    "the limits of credits could not be read",
    async (db) => (await readCreditLimits(db, accountId, nowMs)) ?? null,
  );

export type Limits = Awaited<ReturnType<typeof readLimitsOf>>;

type CreditLimitsProps = {
  account: Account;
  read: Limits;
  isSaved: boolean;
  isOpen: boolean;
  nowMs: number;
};

/** The form with which an owner limits what a month may cost, and asks for a mail when few credits are left: a line, which opens. */
export function CreditLimits({ account, read, isSaved, isOpen, nowMs }: CreditLimitsProps) {
  const { monthly_thousandths: limit = null, mail_below_thousandths: below = null } = read ?? {};
  const used = (read?.spent_thousandths ?? 0) + account.held_thousandths;
  const isReached = limit !== null && used >= limit;
  return (
    <li>
      <details className="fold" open={isSaved || isReached || isOpen}>
        <summary>
          <h3 id="limits">Monthly limit, and a mail when few are left</h3>
          <b>
            {limit !== null
              ? `${formatCredits(used)} of ${formatCredits(limit)} used`
              : below !== null
                ? "No limit"
                : read !== undefined && "Off"}
          </b>
        </summary>
        {isSaved && <p role="status">Saved.</p>}
        {read === undefined && <p className="quiet">We cannot show what you have set at the moment.</p>}
        {read && <Used {...read} held={account.held_thousandths} nowMs={nowMs} />}
        {read !== undefined && (
          <PostForm action={forms.setCreditLimits.path} hidden={{ account: account.id }} className="stack">
            <AmountField name="limit" label="At most this many credits a month" set={limit} />
            <AmountField name="below" label="A mail when fewer than this many are left" set={below} />
            <p className="quiet">Empty: no limit, no mail. Months are UTC.</p>
            <button type="submit" className="plain">
              Save
            </button>
          </PostForm>
        )}
      </details>
    </li>
  );
}

type AmountFieldProps = { id?: string; name: string; label: string; set?: number | null | undefined };

/** A field for a number, which shows what is set in thousandths. */
export function AmountField({ id, name, label, set }: AmountFieldProps) {
  const value = set == null ? "" : String(toCredits(set));
  return (
    <div>
      <label htmlFor={id ?? name}>{label}</label>
      <input
        id={id ?? name}
        name={name}
        inputMode="decimal"
        autoComplete="off"
        maxLength={20}
        defaultValue={value}
      />
    </div>
  );
}

/** What this month has used of its limit, and what it means that nothing is left. */
function Used({
  monthly_thousandths: limit,
  spent_thousandths,
  held,
  nowMs,
}: NonNullable<Limits> & { held: number; nowMs: number }) {
  if (limit === null) return null;
  const used = spent_thousandths + held;
  const next = formatInstant(monthOf(nowMs, 1), "date", "UTC");
  return (
    <>
      <p>
        This month used {formatCredits(used)} of {formatCredits(limit)} credits
        {held > 0 && `, ${formatCredits(held)} of them held`}.
      </p>
      {used >= limit && (
        <p className="problem ours" role="alert">
          Your limit is reached: work that costs credits is refused until {next} UTC, or until you raise it.
        </p>
      )}
    </>
  );
}
