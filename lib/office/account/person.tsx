import { PostButton } from "@/app/(pages)/post-form";
import { findAccount } from "@/lib/accounts/accounts";
import { graceMs, leave, stay } from "@/lib/accounts/leaving/leaving";
import { deleteAccountAct, moveAccountAct } from "@/lib/admin/account";
import { allOfThem, personActs } from "@/lib/admin/person";
import { minuteInWords } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { ActForm, formOf } from "@/lib/office/act-form";
import { asFile, formAt, type OfficeAct, type OfficeCall, requireEmail } from "@/lib/office/page";
import { Instant, UntrustedText } from "@/lib/office/values";

/** What is stored about the person, as a file. */
export function Export({ email }: { email: string }) {
  return (
    <>
      <h2>Their data</h2>
      <p>{exportAct.effect?.does} That you read it is in the audit.</p>
      <PostButton action={exportAct.form.path} hidden={{ email }} look="plain small">
        Export everything as JSON
      </PostButton>
    </>
  );
}

/** What takes something away from the person, closed until it is opened: also of an account that cannot be read. */
export function DangerZone({ email, account, call }: PersonProps) {
  const hidden = { email };
  const isErasing = account?.deletes_at_ms != null;
  return (
    <details className="fold danger-zone" open={call.typed("to") !== undefined}>
      <summary>{account ? "Move, erase or delete this account" : "Erase this person"}</summary>
      {account && settings().signIn.kind === "local" && (
        <section>
          <h3>Move it to another email</h3>
          <ActForm act={moveAccountAct} call={call} hidden={hidden}>
            <button type="submit" className="danger">
              Tell the old email, then ask the new one
            </button>
          </ActForm>
        </section>
      )}
      {!isErasing && (
        <section>
          <h3>Erase the person</h3>
          <ActForm act={account ? eraseLater : eraseNow} call={call} hidden={hidden}>
            <button type="submit" className="danger">
              {account ? "Erase in 24 hours" : "Erase now"}
            </button>
          </ActForm>
        </section>
      )}
      {account && (
        <section>
          <h3>Delete the account at once</h3>
          <ActForm act={deleteAccountAct} call={call} hidden={hidden} current={{ id: account.id }}>
            <button type="submit" className="danger">
              <span>
                Delete <UntrustedText>{email}</UntrustedText> now
              </span>
            </button>
          </ActForm>
        </section>
      )}
    </details>
  );
}

type PersonProps = { email: string; account: Leaver | undefined; call: OfficeCall };
type Leaver = { id: string; deletes_at_ms: number | null };

const { export: exportAct, erase: eraseAct } = personActs;

/** Who read it is in the audit. Its name has the person's, so that no one is sent another's. */
const exportPerson = formOf(
  {
    ...exportAct,
    async run(call, { email }) {
      const exported = await exportAct.run(call, { email });
      const about = { by: call.by, what: "person export", whom: email, after: null } as const;
      await recordAudit(call.db, about, call.nowMs);
      return exported;
    },
  },
  (parts, call) => asFile(`${requireEmail(call).replace(/[^\w.@+-]/g, "-")}.json`, "application/json", parts),
);

const eraseNow = {
  ...eraseAct,
  effect: { does: "Their invitations, mails and place on the waitlist go now, with the name in the audit." },
};

const eraseLater = {
  ...eraseAct,
  effect: {
    does: `Everything goes a day from now: ${allOfThem}. Their subscription at Stripe ends. They get a mail.`,
    undo: "They or you can take it back for a day; after that it cannot be undone.",
  },
};

/** An account has a day of grace. Of someone without one nothing is kept that would be missed. */
const erase = formOf({
  ...eraseAct,
  form: { ...eraseAct.form, done: "Everything about this person goes, and nothing is kept." },
  async preview({ db, nowMs }, { email }) {
    const hasAccount = await hasRow(accountBy(db, "email", email).select("id"));
    const after = hasAccount ? `erased on ${minuteInWords(nowMs + graceMs)}` : "erased now";
    const changes = [{ what: "All that is stored about them", before: "kept", after }];
    return { whom: email, changes, effect: (hasAccount ? eraseLater : eraseNow).effect };
  },
  async run(call, { email }) {
    const account = await accountBy(call.db, "email", email).select(["id", "email"]).executeTakeFirst();
    if (!account) return eraseAct.run(call, { email });
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
