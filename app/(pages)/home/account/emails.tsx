import type { ReactNode } from "react";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { forms } from "@/lib/http/register/forms";
import { readSubscription } from "@/lib/mail/unsubscribe";
import { PostForm } from "../../post-form";
import { type Limits, readLimitsOf } from "../billing/credit-limits";
import { formatCredits } from "../billing/format-credits";
import type { OwnVisit } from "../owner-page";

/** What an owner has chosen about mails; what cannot be read is undefined. */
export async function readMailChoices(accountId: string, nowMs: number) {
  const limits = await readLimitsOf(accountId, nowMs);
  const { isStopped } = await readSubscription(accountId);
  return { limits, isIntroduced: !isStopped };
}

type EmailsProps = Pick<OwnVisit, "account"> & {
  choices: Awaited<ReturnType<typeof readMailChoices>>;
  /** What is true of all of them. */
  children: ReactNode;
};

/** Every kind of mail, and where each is switched. */
export function Emails({ account, choices: { limits, isIntroduced }, children }: EmailsProps) {
  const isOn = account.app_end_mails_stopped_at_ms === null;
  return (
    <section className="setting" id="emails">
      <div>
        <h2>What we email you</h2>
        {children}
      </div>
      <ul className="choices">
        <li>
          <div>
            <b>Sign-in, security, payments</b>
            <p className="quiet">Codes, new browsers and apps, the state of your account.</p>
          </div>
          <span>Always</span>
        </li>
        <li>
          <div>
            <b>Apps about to be disconnected</b>
            <p className="quiet">A week before their last date.</p>
          </div>
          <Switch
            name="Apps about to be disconnected"
            isOn={isOn}
            action={forms.switchAppMails.path}
            hidden={{ account: account.id, mails: isOn ? "off" : "on" }}
          />
        </li>
        {limits === undefined ? (
          <li>
            <div>
              <b>Low credits</b>
              <p className="quiet">We cannot show what you have set at the moment.</p>
            </div>
          </li>
        ) : (
          <FewCredits accountId={account.id} limits={limits} />
        )}
        <li>
          <div>
            <b>Introduction</b>
            <p className="quiet">
              {isIntroduced
                ? "Five emails in your first two weeks. Once off, it cannot be turned on again."
                : "Stopped for good: none will come any more."}
            </p>
          </div>
          <Switch
            name="Introduction"
            isOn={isIntroduced}
            action={isIntroduced ? forms.stopIntroduction.path : null}
            hidden={{ account: account.id }}
          />
        </li>
      </ul>
    </section>
  );
}

/** Turns the mail about few credits off, or on below the number that is typed next to it. */
function FewCredits({ accountId, limits }: { accountId: string; limits: NonNullable<Limits> | null }) {
  const below = limits?.mail_below_thousandths ?? null;
  const month = limits?.monthly_thousandths ?? null;
  const hidden = {
    account: accountId,
    from: "account",
    limit: month === null ? "" : String(toCredits(month)),
    ...(below !== null && { below: "" }),
  };
  return (
    <li>
      <div>
        <b>Low credits</b>
        <p className="quiet" id="few-credits">
          {below === null
            ? "When fewer credits than this are left:"
            : `When fewer than ${formatCredits(below)} credits are left.`}
        </p>
      </div>
      <Switch name="Low credits" isOn={below !== null} action={forms.setCreditLimits.path} hidden={hidden}>
        {below === null && (
          <input
            name="below"
            aria-labelledby="few-credits"
            inputMode="decimal"
            autoComplete="off"
            maxLength={20}
            placeholder="100"
            required
          />
        )}
      </Switch>
    </li>
  );
}

type SwitchProps = {
  name: string;
  isOn: boolean;
  /** What it is posted to; none of one that cannot be switched on again. */
  action: string | null;
  hidden?: Record<string, string>;
  /** What is chosen with it. */
  children?: ReactNode;
};

/** A form that shows what is set, and sets the opposite. */
function Switch({ name, isOn, action, hidden, children }: SwitchProps) {
  const button = (
    <button
      type="submit"
      className="switch"
      role="switch"
      aria-checked={isOn}
      aria-label={name}
      disabled={action === null}
    />
  );
  if (action === null) return button;
  return (
    <PostForm action={action} hidden={hidden} className="switches">
      {children}
      {button}
    </PostForm>
  );
}
