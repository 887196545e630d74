import type { ReactNode } from "react";
import { toCredits } from "@/lib/accounts/ledger";
import { forms } from "@/lib/http/register/forms";
import { ownerPages, pages } from "@/lib/http/register/pages";
import { findLinkKey } from "@/lib/mail/link-keys";
import { readSubscription } from "@/lib/mail/unsubscribe";
import { unsubscribeUrl } from "@/lib/mail/unsubscribe-token";
import { PostButton } from "../../post-form";
import { readPart } from "../../read-part";
import { readLimitsOf } from "../billing/credit-limits";
import { formatCredits } from "../billing/format-credits";
import type { OwnVisit } from "../owner-page";

/** What an owner has chosen about mails; what cannot be read is undefined. */
export async function readMailChoices(accountId: string, nowMs: number) {
  const limits = await readLimitsOf(accountId, nowMs);
  const introduction = await readPart("the link that stops mails could not be made", async (db) => {
    const { isStopped } = await readSubscription(accountId);
    return isStopped ? null : unsubscribeUrl(await findLinkKey(db), accountId, pages.unsubscribe);
  });
  return { below: limits === undefined ? undefined : (limits?.mail_below_thousandths ?? null), introduction };
}

type EmailsProps = Pick<OwnVisit, "account"> & {
  choices: Awaited<ReturnType<typeof readMailChoices>>;
  /** What is true of all of them. */
  children: ReactNode;
};

/** Every kind of mail, and where each is switched. */
export function Emails({ account, choices: { below, introduction }, children }: EmailsProps) {
  const isOn = account.app_end_mails_stopped_at_ms === null;
  return (
    <section className="setting" id="emails">
      <div>
        <h2>Emails</h2>
        <p className="quiet">What we write to you about.</p>
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
            <b>The end of an app</b>
            <p className="quiet">
              {isOn
                ? "We email you 7 days before the last date of an app."
                : "We do not email you before the last date of an app."}
            </p>
          </div>
          <PostButton
            action={forms.switchAppMails.path}
            hidden={{ account: account.id, mails: isOn ? "off" : "on" }}
            label={isOn ? "Turn off: the end of an app" : "Turn on: the end of an app"}
            look="plain small"
          >
            {isOn ? "Turn off" : "Turn on"}
          </PostButton>
        </li>
        <li>
          <div>
            <b>Few credits</b>
            <p className="quiet">
              {below === undefined
                ? "We cannot show what you have set at the moment."
                : below === null
                  ? "Off."
                  : `When fewer than ${formatCredits(toCredits(below))} are left.`}
            </p>
          </div>
          <a
            className="button plain small"
            href={`${ownerPages.billing.path}#limits`}
            aria-label="Set: few credits"
          >
            Set
          </a>
        </li>
        <li>
          <div>
            <b>Introduction</b>
            <p className="quiet">
              {introduction === null ? "None will come any more." : "Five mails in your first two weeks."}
            </p>
          </div>
          {introduction && (
            <a className="button plain small" href={introduction} aria-label="Stop: introduction">
              Stop
            </a>
          )}
        </li>
      </ul>
    </section>
  );
}
