import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { PostButton } from "../../post-form";
import type { Problem } from "../../problem";
import { readAccess } from "../access/read-access";
import { ownerPage } from "../owner-page";
import { AppearanceChoice } from "./appearance";
import { Email, readWaiting } from "./email";
import { Emails, readMailChoices } from "./emails";
import { Leave } from "./leave";
import { TimeZone } from "./time-zone";

const problems: Record<string, Problem> = {
  confirm: { words: "Confirm first that it is you, then try again." },
  zone: { words: "We do not know this time zone. Choose one from the list." },
  same: { words: "That is your email already.", isTyped: true },
  often: { words: "You have asked for three changes of your email in a day. Ask again tomorrow." },
};

/** The account itself: its email, the data that is kept about it, and its end. */
export const { GET } = ownerPage(pages.account, problems, async (visit) => {
  const { account, sessionId, isLocal, nowMs } = visit;
  // One after the other, so that a page holds one connection to the store at a time.
  const access = isLocal ? await readAccess(account, nowMs) : undefined;
  const waiting = isLocal ? await readWaiting(account.id, nowMs) : undefined;
  const choices = await readMailChoices(account.id, nowMs);
  const own = access?.sessions.find(({ id }) => id === sessionId);
  return (
    <>
      <h1>Account</h1>
      <div className="card settings">
        <Email {...visit} ways={access?.ways} own={own} waiting={waiting} />
        <AppearanceChoice {...visit} />
        <Emails account={account} choices={choices}>
          <TimeZone {...visit} />
        </Emails>
      </div>
      <div className="card settings">
        <section className="setting">
          <div>
            <h2>Your data</h2>
            <p className="quiet">
              Everything that is kept about you, in one file: account, credits, sessions, emails and their
              history.
            </p>
          </div>
          <PostButton action={forms.exportPerson.path} hidden={{ account: account.id }}>
            Download your data
          </PostButton>
        </section>
        <Leave {...visit} ways={access?.ways} own={own} />
      </div>
    </>
  );
});
