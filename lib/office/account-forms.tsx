import { Description } from "@/app/(pages)/home/sessions";
import type { Account } from "@/lib/accounts/account";
import { accountIdOf, addCredits, deleteAccount, findAccount, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { describeLicence } from "@/lib/accounts/explanation";
import { parseThousandths, toCredits } from "@/lib/accounts/ledger";
import { endSessionsOf, type Session } from "@/lib/auth/session";
import { distinctNames } from "@/lib/auth/session-name";
import { deleteCustomer } from "@/lib/billing/customer";
import { ActButton, Field, Form, PlanFields, readTerms, TimeField, toMinute } from "@/lib/office/forms";
import {
  accountAddress,
  conflict,
  invalid,
  type OfficeAct,
  type OfficeCall,
  requireEmail,
  requireLine,
} from "@/lib/office/page";
import { Instant, Table, Their, trialEndOf } from "@/lib/office/parts";

/* What an operator can do with an account: four forms, each followed by its act. */

type TermsProps = { call: OfficeCall; account: Account; licence: string | null };

/** The form with an account's plan, its trial's end and its limit. */
export function Terms({ call, account, licence }: TermsProps) {
  const { email, plan, assistantLimit } = account;
  return (
    <>
      <h2>Plan</h2>
      {licence && <p>{describeLicence(licence)}.</p>}
      <Form act={setTerms} hidden={{ email, seen: describeTerms(account) }} className="filter">
        <PlanFields call={call} plan={plan} assistantLimit={assistantLimit}>
          <TimeField call={call} name="trialEnds" label="Trial ends (UTC)" atMs={trialEndOf(account)} />
        </PlanFields>
        <button type="submit">Save</button>
      </Form>
    </>
  );
}

/** The state that a form was made from. */
function describeTerms(account: Account): string {
  const { id, plan, assistantLimit } = account;
  return [id, plan, trialEndOf(account) ?? "", assistantLimit ?? "none"].join(" ");
}

/**
 * Sets what differs from the account: a plan that is only sent along does not become one that was given by hand, and a
 * trial's end keeps its seconds. An empty limit stays as it is.
 */
export const setTerms: OfficeAct = {
  path: "/account/terms",
  name: "change the plan",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { plan, trialEndsAtMs, assistantLimit } = readTerms(call);
    const shown = await findAccount(db, email);
    const isSameEnd = input("trialEnds") === toMinute(trialEndOf(shown));
    const terms = {
      plan: plan === shown.plan ? undefined : plan,
      trialEndsAtMs: isSameEnd ? undefined : trialEndsAtMs,
      assistantLimit,
    };
    await setAccount(db, email, terms, nowMs, by, (current) => {
      if (input("seen") === describeTerms(current)) return;
      const { plan, assistantLimit: assistant_limit } = current;
      const now = describeChanges(null, { plan, trial_ends_at_ms: trialEndOf(current), assistant_limit });
      throw conflict(`Someone changed this account meanwhile. It is now: ${now}.`);
    });
    return accountAddress(email, "terms");
  },
};

type CreditsProps = {
  call: OfficeCall;
  account: Account;
  entries: { thousandths: number; reason: string; created_at_ms: number }[];
};

/** The balance, the form that changes it, and the latest entries. */
export function Credits({ call, account, entries }: CreditsProps) {
  return (
    <>
      <h2>Credits: {toCredits(account.creditThousandths).toLocaleString("en")}</h2>
      <Form
        act={giveCredits}
        hidden={{ email: account.email, seen: describeBalance(account) }}
        className="filter"
      >
        <Field call={call} name="amount" label="Amount to add, or to take with a minus" inputMode="decimal" />
        <Field call={call} name="reason" label="Reason, which the owner reads" maxLength={500} />
        <button type="submit">Change the balance</button>
      </Form>
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
    return accountAddress(email, "credits");
  },
};

const maxSessions = 50;

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
  const names = distinctNames(sessions);
  const shown = sessions
    .slice(0, maxSessions)
    .map((session) => ({ ...session, name: names.get(session.id) ?? session.name }));
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="sessions">
        {shown.map((session) => (
          <li key={session.id}>
            <div>
              <Description session={session} isOwn={false} nowMs={nowMs} />
            </div>
            <ActButton
              act={endSessions}
              hidden={{ email, session: session.id }}
              label={`End “${session.name}”`}
            >
              End
            </ActButton>
          </li>
        ))}
      </ul>
      {sessions.length > 1 && (
        <ActButton
          act={endSessions}
          hidden={{ email, session: "all" }}
          label={`End all ${sessions.length} sessions`}
        >
          End all {sessions.length}
        </ActButton>
      )}
    </>
  );
}

export const endSessions: OfficeAct = {
  path: "/account/sessions/end",
  name: "end the access",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { id } = await findAccount(db, email);
    const session = input("session") ?? "";
    const which = session === "all" ? "all" : { id: session };
    await endSessionsOf(db, { by, what: "session end" }, id, which, nowMs);
    return accountAddress(email, "ended");
  },
};

/** The form that deletes an account, also one that cannot be read. */
export function Delete({ email, id }: { email: string; id: string }) {
  return (
    <details className="fold">
      <summary>Delete this account</summary>
      <Form act={removeAccount} hidden={{ email, seen: id }} className="stack">
        <p>
          The account goes with its history, sessions, apps and passkeys, and its subscription at Stripe ends.
          To erase everything about the person, use <code>person erase</code> in the shell.
        </p>
        <button type="submit" className="danger">
          <span>
            Delete <Their>{email}</Their>
          </span>
        </button>
      </Form>
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
    return accountAddress(email, "deleted");
  },
};
