import { randomUUID } from "node:crypto";
import type { InferResult } from "kysely";
import * as z from "zod";
import { SessionRow } from "@/app/(pages)/home/access/sessions";
import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { type Account, trialEndOf } from "@/lib/accounts/account";
import { addCredits, deleteAccount, findAccount, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { describeLicence, type Facts } from "@/lib/accounts/explanation";
import {
  type CreditEntry,
  describeReason,
  parseThousandths,
  spendable,
  toCredits,
} from "@/lib/accounts/ledger";
import type { openHolds } from "@/lib/accounts/spending";
import type { Session } from "@/lib/auth/sessions/session";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { withDistinctNames } from "@/lib/auth/sessions/session-name";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { accountBy } from "@/lib/db/account-by";
import {
  Field,
  Lines,
  PlanFields,
  parseTime,
  readLimit,
  readLines,
  readSeen,
  readTerms,
  requireSeen,
  requireSlug,
  TimeField,
  toLines,
  toMinute,
  toSeen,
} from "@/lib/office/forms";
import {
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  requireEmail,
  requireLine,
} from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";
import { contentsOf, ownFeaturesOf, ownLimitsOf, type Plans } from "@/lib/plans/plan";
import { describeAfter, type Gift } from "@/lib/plans/terms";

/* What an operator can do with an account: four forms, each followed by its act. */

type TermsProps = {
  call: OfficeCall;
  plans: Plans;
  account: Account;
  given: Account;
  licensed: Facts["licensed"];
};

/** The form with what an operator gives: the plan, its trial's end and the limit; and what Stripe gives next to it. */
export function Terms({ call, plans, account, given, licensed }: TermsProps) {
  const { kept } = readSeen(call);
  const fields = fieldsOf(given.id, given, given.given_ends_at_ms);
  return (
    <>
      <h2>Plan</h2>
      <WhatItHas account={account} plans={plans} given={given} isPaid={licensed !== undefined} />
      {licensed && (
        <p>
          {describeLicence(licensed)}. To end it,{" "}
          <a href={dashboardUrl(licensed.customer_id)}>cancel it at Stripe</a>. The account has the better of
          that and of what you give:
        </p>
      )}
      <PostForm
        action={setTerms.path}
        hidden={{ email: given.email, seen: toSeen(fields) }}
        className="filter"
      >
        <PlanFields
          call={kept}
          plans={plans}
          plan={given.given_plan ?? given.plan}
          assistantLimit={given.assistant_limit}
        >
          <TimeField call={kept} name="trialEnds" label="Trial ends (UTC)" atMs={trialEndOf(given)} />
        </PlanFields>
        <Lines call={kept} name="ownFeatures" label="Features beyond the plan" current={fields.ownFeatures} />
        <Lines call={kept} name="ownLimits" label="Limits, like projects = 20" current={fields.ownLimits} />
        <TimeField
          call={kept}
          name="until"
          label="What you change here ends (UTC), if it does"
          atMs={given.given_ends_at_ms}
        />
        <button type="submit">Save</button>
      </PostForm>
    </>
  );
}

const readName = (line: string): [name: string, isOwn: true] => [requireSlug(line.trim()), true];

type HasProps = Pick<TermsProps, "account" | "plans" | "given"> & { isPaid: boolean };

/** What an account has now: its plan, who gives it, and apart from that what an operator gives beyond it. */
function WhatItHas({ account, plans, given, isPaid }: HasProps) {
  const has = contentsOf(account, plans);
  const without = { own_features: null, own_limits: null, assistant_limit: null };
  const byPlan = contentsOf({ ...account, ...without }, plans);
  if (!has || !byPlan) return <p>Its plan cannot be read. Give it another one.</p>;
  const features = has.features.map((name) =>
    byPlan.features.includes(name) ? name : `${name} (beyond the plan)`,
  );
  const limits = Object.entries(has.limits).map(([name, limit]) => {
    const planned = Object.hasOwn(byPlan.limits, name) ? byPlan.limits[name] : undefined;
    const beyond = planned === undefined ? "beyond the plan" : `in place of the plan’s ${planned ?? "none"}`;
    return `${name} ${limit ?? "none"}${limit === planned ? "" : ` (${beyond})`}`;
  });
  const title = (name: string) => `${plans.get(name)?.title ?? name} (${name})`;
  return (
    <dl>
      <dt>It has</dt>
      <dd>{title(has.plan)}</dd>
      {isPaid && (
        <>
          <dt>You give</dt>
          <dd>{title(given.given_plan ?? given.plan)}</dd>
          <dt>Stripe gives</dt>
          <dd>{title(account.paid_plan ?? "licensed")}</dd>
        </>
      )}
      <dt>Features</dt>
      <dd>{features.join(", ") || "none"}</dd>
      <dt>Limits</dt>
      <dd>{limits.join(", ") || "none"}</dd>
      {account.given_ends_at_ms !== null && (
        <>
          <dt>What you give ends</dt>
          <dd>
            <Instant atMs={account.given_ends_at_ms} />, and then it has {describeAfter(account)}
          </dd>
        </>
      )}
    </dl>
  );
}

/** The fields of the form, and the account that it was made for. */
function fieldsOf(
  id: string,
  { plan, given_plan, trial_ends_at_ms, assistant_limit, ...own }: Gift["given"],
  endsAtMs: number | null | undefined,
) {
  return {
    id,
    until: toMinute(endsAtMs),
    plan: given_plan ?? plan,
    trialEnds: toMinute(trial_ends_at_ms),
    assistantLimit: String(assistant_limit ?? ""),
    ownFeatures: ownFeaturesOf(own).join("\n"),
    ownLimits: toLines(ownLimitsOf(own)),
  };
}

/** Sets only what the sender changed: a plan merely sent along undoes no one's, and a trial's end keeps its seconds. */
const setTerms: OfficeAct = {
  ...formWithProof("/account/terms"),
  name: "change the plan",
  done: "Saved. The API answers by it from now on.",
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { plan, given_plan, trial_ends_at_ms, assistant_limit = null } = readTerms(call);
    const account = await findAccount(db, email);
    const { isChanged } = readSeen(call);
    const lines = (name: string) => (isChanged(name) ? input(name) : undefined);
    const [features, limits] = [lines("ownFeatures"), lines("ownLimits")];
    // The form shows one end for all of it, so what is changed below it ends then too; a trial ends by itself.
    const standing =
      isChanged("plan") && plan === "trial" ? undefined : (account.given_ends_at_ms ?? undefined);
    const before = Object.keys(ownLimitsOf(account)).map((name) => [name, "plan"] as const);
    const terms = {
      ...(isChanged("plan") && { plan, given_plan }),
      trial_ends_at_ms: isChanged("trialEnds") ? trial_ends_at_ms : undefined,
      assistant_limit: isChanged("assistantLimit") ? assistant_limit : undefined,
      ...(features !== undefined && { own_features: Object.keys(readLines(features, readName)) }),
      ...(limits !== undefined && {
        own_limits: { ...Object.fromEntries(before), ...readLines(limits, readLimit) },
      }),
      given_ends_at_ms: isChanged("until") ? parseTime(input("until")) : standing,
    };
    const requireSame = ({ given, end }: Gift) => {
      const now = describeChanges(null, { ...given, given_ends_at_ms: end?.atMs ?? null });
      const seen = toSeen(fieldsOf(account.id, given, end?.atMs));
      requireSeen(call, seen, `Someone changed this account meanwhile. It is now: ${now}.`);
    };
    await setAccount(db, email, { ...terms, by, requireSame }, nowMs);
  },
};

const inCredits = (thousandths: number) => toCredits(thousandths).toLocaleString("en");

type CreditsProps = {
  call: OfficeCall;
  account: Account;
  entries: CreditEntry[];
  holds: InferResult<ReturnType<typeof openHolds>>;
  most: number;
};

/** The balance, what is held, the form that changes it, and the latest entries with the backend that wrote them. */
export function Credits({ call, account, entries, holds, most }: CreditsProps) {
  return (
    <>
      <h2>Credits: {inCredits(spendable(account))}</h2>
      {holds.length > 0 && (
        <>
          <p className="quiet">{inCredits(account.held_thousandths)} more are held for work that goes on:</p>
          <Table
            rows={holds}
            most={most}
            columns={{
              Held: ({ thousandths }) => inCredits(thousandths),
              Backend: ({ backend_id }) => backend_id,
              Reason: ({ reason, reference }) => (
                <UntrustedText>{[reason, reference].filter(Boolean).join(": ")}</UntrustedText>
              ),
              "Free again at": ({ expires_at_ms }) => <Instant atMs={expires_at_ms} />,
            }}
          />
        </>
      )}
      <PostForm
        action={giveCredits.path}
        hidden={{ email: account.email, once: randomUUID() }}
        className="filter"
      >
        <Field call={call} name="amount" label="Credits to add (−5 removes)" inputMode="decimal" />
        <Field call={call} name="reason" label="Reason, which the owner reads" maxLength={500} />
        <button type="submit">Change the balance</button>
      </PostForm>
      <Table
        rows={entries}
        most={most}
        columns={{
          When: ({ created_at_ms }) => <Instant atMs={created_at_ms} />,
          Credits: ({ thousandths }) =>
            toCredits(thousandths).toLocaleString("en", { signDisplay: "exceptZero" }),
          Reason: (entry) => <UntrustedText>{describeReason(entry)}</UntrustedText>,
          "Written by": ({ backend_id, reference, reverses, hold_id }) => (
            <UntrustedText>
              {backend_id &&
                `backend ${backend_id}${reverses ? ", gives a spend back" : hold_id ? ", settles a hold" : ""}${reference ? `: ${reference}` : ""}`}
            </UntrustedText>
          ),
          "Bought at Stripe": ({ price_id, checkout }) => (price_id ? `${price_id} ${checkout ?? ""}` : "–"),
        }}
        whenEmpty="No entries."
      />
    </>
  );
}

const giveCredits: OfficeAct = {
  ...formWithProof("/account/credits"),
  name: "change the balance",
  done: "The balance is changed.",
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const thousandths = parseThousandths(input("amount") ?? "");
    if (!thousandths) throw invalid("The amount must be a number other than 0, with at most three decimals.");
    const reason = requireLine("The reason", input("reason"));
    // Of the page that the form is on: a form that is sent twice counts once, whatever was spent meanwhile.
    const id = z.uuid().safeParse(input("once")).data;
    if (!id) throw invalid("The form is incomplete.");
    await addCredits(db, email, { thousandths, reason, by, id }, nowMs);
  },
};

const maxSessions = 50;

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
  const end = { action: endSessions.path, hidden: { email } };
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="rows">
        {withDistinctNames(sessions)
          .slice(0, maxSessions)
          .map((session) => (
            <SessionRow key={session.id} session={session} end={end} nowMs={nowMs} />
          ))}
      </ul>
      {sessions.length > 1 && (
        <PostButton
          action={endSessions.path}
          hidden={{ email, session: "all" }}
          label={`End all ${sessions.length} sessions`}
        >
          End all {sessions.length}
        </PostButton>
      )}
    </>
  );
}

const endSessions: OfficeAct = {
  ...formWithProof("/account/sessions/end"),
  name: "end the access",
  done: "Ended. It no longer has access.",
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { id } = await findAccount(db, email);
    const session = input("session") ?? "";
    const which = session === "all" ? {} : { id: session };
    await endSessionsOf(db, { by, what: "session end", accountId: id, which }, nowMs);
  },
};

/** The form that deletes an account, also one that cannot be read. */
export function Delete({ email, id }: { email: string; id: string }) {
  return (
    <details className="fold">
      <summary>Delete this account</summary>
      <PostForm action={removeAccount.path} hidden={{ email, seen: id }} className="stack">
        <p>
          The account goes with its history, sessions, apps and passkeys, and its subscription at Stripe ends.
          To erase everything about the person, use <code>person erase</code> in the shell.
        </p>
        <button type="submit" className="danger">
          <span>
            Delete <UntrustedText>{email}</UntrustedText>
          </span>
        </button>
      </PostForm>
    </details>
  );
}

const removeAccount: OfficeAct = {
  ...formWithProof("/account/delete"),
  name: "delete the account",
  done: "The account is deleted.",
  async run(call) {
    const { db, nowMs, by } = call;
    const email = requireEmail(call);
    const row = await accountBy(db, "email", email).select("id").executeTakeFirst();
    if (row) requireSeen(call, row.id, "This email has another account meanwhile.");
    await deleteCustomer(db, "email", email, nowMs);
    await deleteAccount(db, email, by, nowMs);
  },
};

export const accountActs = [setTerms, giveCredits, endSessions, removeAccount];
