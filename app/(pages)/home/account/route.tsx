import { toPlatform } from "@/lib/http/platform";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { PostButton } from "../../post-form";
import { readSessions } from "../access/sessions";
import { readSignInMethods } from "../access/sign-in-methods";
import { ownerPage } from "../owner-page";
import { Leave } from "./leave";

const problems = { confirm: { words: "Confirm first that it is you, then delete the account." } };

/** The account itself: its email, the data that is kept about it, and its end. */
export const { GET } = toPlatform(
  ownerPage(pages.account, problems, async (visit) => {
    const { account, sessionId, isLocal, nowMs } = visit;
    // One after the other, so that a page holds one connection to the store at a time.
    const sessions = isLocal ? (await readSessions(account, nowMs))?.sessions : undefined;
    const ways = isLocal ? await readSignInMethods(account.id) : undefined;
    const own = sessions?.find(({ id }) => id === sessionId);
    return (
      <>
        <h1>Account</h1>
        <section className="card">
          <h2>Your email</h2>
          <p>{account.email}</p>
          <p className="quiet">Sign-in codes and every mail about your account go to this address.</p>
        </section>
        <section className="card">
          <h2>Your data</h2>
          <p>
            A file with everything that is kept about you: account, credits, sessions, mails and their
            history.
          </p>
          <PostButton action={forms.exportPerson.path} hidden={{ account: account.id }}>
            Download your data
          </PostButton>
        </section>
        <Leave {...visit} ways={ways} own={own} />
      </>
    );
  }),
);
