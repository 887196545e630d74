import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { findAccount } from "@/lib/accounts/accounts";
import { leave, stay } from "@/lib/accounts/leaving/leaving";
import { deleteAccountAct, moveAccountAct } from "@/lib/admin/account";
import { personActs } from "@/lib/admin/person";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { recordAudit } from "@/lib/db/audit";
import { ActForm, formOf } from "@/lib/office/act-form";
import { toSeen } from "@/lib/office/forms";
import { asFile, formAt, type OfficeAct, type OfficeCall, requireEmail } from "@/lib/office/page";
import { Instant, UntrustedText } from "@/lib/office/values";

/** What is stored about the person, as a file, and the forms that take it away: also of an account that cannot be read. */
export function Person({ email, account, call }: PersonProps) {
  return (
    <section>
      <h2>The person</h2>
      <PostButton action={exportPerson.path} hidden={{ email }} look="plain small">
        Export everything as JSON
      </PostButton>
      {account?.deletes_at_ms === null && (
        <p className="quiet">
          Erasing takes a day, reaches all that names them and can be taken back. Deleting takes the account
          and its history now.
        </p>
      )}
      {account?.deletes_at_ms == null && (
        <details className="fold">
          <summary>Erase this person</summary>
          <PostForm action={erase.path} hidden={{ email }} className="stack">
            <p>
              {account
                ? "Everything about them goes a day from now: the account with its credits, sessions, apps and passkeys, mails, invitations, the waitlist and the name in the audit. They get a mail, and they or you can take it back until then."
                : "Their invitations, mails and place on the waitlist go now, with the name in the audit. It can’t be undone."}
            </p>
            <button type="submit" className="danger">
              {account ? "Erase in 24 hours" : "Erase now"}
            </button>
          </PostForm>
        </details>
      )}
      {account && settings().signIn.kind === "local" && (
        <details className="fold">
          <summary>Move this account to another email</summary>
          <ActForm act={moveAccountAct} call={call} hidden={{ email }}>
            <p>
              For an owner who cannot read their mailbox any more. Be sure who asks you: whoever reads the new
              email has the account. The old email is told now and can stop it; the new one is asked a day
              later.
            </p>
            <button type="submit">Ask both</button>
          </ActForm>
        </details>
      )}
      {account && (
        <details className="fold">
          <summary>Delete this account</summary>
          <PostForm
            action={deleteAccountAct.form.path}
            hidden={{ email, seen: toSeen({ id: account.id }) }}
            className="stack"
          >
            <p>
              The account goes now with its history, sessions, apps and passkeys, and its subscription at
              Stripe ends. It can’t be undone.
            </p>
            <button type="submit" className="danger">
              <span>
                Delete <UntrustedText>{email}</UntrustedText>
              </span>
            </button>
          </PostForm>
        </details>
      )}
    </section>
  );
}

type PersonProps = { email: string; account: Leaver | undefined; call: OfficeCall };
type Leaver = { id: string; deletes_at_ms: number | null };

/** Who read it is in the audit. Its name has the person's, so that no one is sent another's. */
const exportPerson = formOf(
  {
    ...personActs.export,
    async run(call, { email }) {
      const exported = await personActs.export.run(call, { email });
      const about = { by: call.by, what: "person export", whom: email, after: null };
      await recordAudit(call.db, about, call.nowMs);
      return exported;
    },
  },
  (parts, call) => asFile(`${requireEmail(call).replace(/[^\w.@+-]/g, "-")}.json`, "application/json", parts),
);

/** An account has a day of grace. Of someone without one nothing is kept that would be missed. */
const erase = formOf({
  ...personActs.erase,
  form: { ...personActs.erase.form, done: "Everything about this person goes, and nothing is kept." },
  async run(call, { email }) {
    const account = await accountBy(call.db, "email", email).select(["id", "email"]).executeTakeFirst();
    if (!account) return personActs.erase.run(call, { email });
    await leave(call.db, account, call.nowMs, call.by);
    return { json: { erased: email }, text: "" };
  },
});

/** Until when an erasure can be taken back, and the button for it. */
export function Leaving({ email, deletesAtMs }: { email: string; deletesAtMs: number }) {
  return (
    <>
      <p>
        <b>Everything about this person is erased</b> <Instant atMs={deletesAtMs} />.
      </p>
      <PostButton action={keep.path} hidden={{ email }}>
        Keep the account
      </PostButton>
    </>
  );
}

const keep: OfficeAct = {
  ...formAt("/account/keep"),
  name: "keep the account",
  done: "The account stays.",
  run: async (call) => stay(call.db, await findAccount(call.db, requireEmail(call)), call.by, call.nowMs),
};

export const personForms = [formOf(deleteAccountAct), formOf(moveAccountAct), exportPerson, erase, keep];
