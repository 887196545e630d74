import { actions, pages } from "@/lib/http/pages";
import { ownerPage } from "../owner-page";

/** The account itself: its email, and the data that is kept about it. */
export const GET = ownerPage(pages.account, { title: "Account" }, async ({ account }) => (
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
        A file with everything that is kept about you: account, credits, sessions, mails and their history.
      </p>
      <form method="post" action={actions.exportPerson.path}>
        <input type="hidden" name="account" value={account.id} />
        <button type="submit" className="plain">
          Download your data
        </button>
      </form>
    </section>
  </>
));
