import { accountIdOf, deleteAccount } from "@/lib/accounts/accounts";
import { deleteCustomer } from "@/lib/billing/customer";
import { accountPath, addressOf, conflict, type OfficeAct, requireEmail } from "@/lib/office/page";
import { Their } from "@/lib/office/parts";

/** The form that deletes an account, also one that cannot be read. */
export function Delete({ email, id }: { email: string; id: string }) {
  return (
    <details className="fold">
      <summary>Delete this account</summary>
      <form method="post" action={removeAccount.path} className="stack">
        <p>
          The account goes with its history, sessions, apps and passkeys, and its subscription at Stripe ends.
          To erase everything about the person, use <code>person erase</code> in the shell.
        </p>
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="seen" value={id} />
        <button type="submit" className="danger">
          <span>
            Delete <Their>{email}</Their>
          </span>
        </button>
      </form>
    </details>
  );
}

export const removeAccount: OfficeAct = {
  path: "/account/delete",
  name: "delete the account",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const row = await accountIdOf(db, email).executeTakeFirst();
    if (row && row.id !== input("seen")) throw conflict("This email has another account meanwhile.");
    await deleteCustomer(db, "email", email);
    await deleteAccount(db, email, nowMs, by);
    return addressOf({ path: accountPath }, { email, done: "deleted" });
  },
};
