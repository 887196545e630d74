import { randomUUID } from "node:crypto";
import type { InferResult } from "kysely";
import { SessionRow } from "@/app/(pages)/home/access/sessions";
import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { type Account, trialEndOf } from "@/lib/accounts/account";
import { findAccount, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { describeLicence, type Facts } from "@/lib/accounts/explanation";
import { leave, stay } from "@/lib/accounts/leaving";
import { type CreditEntry, describeReason, spendable, toCredits } from "@/lib/accounts/ledger";
import type { openHolds } from "@/lib/accounts/spending";
import { deleteAccountAct } from "@/lib/admin/account";
import { collectLimitOr, collectSlug, toLines } from "@/lib/admin/arguments";
import { addCreditsAct } from "@/lib/admin/credits";
import { personActs } from "@/lib/admin/person";
import { toJson } from "@/lib/admin/print";
import { endSessionAct } from "@/lib/admin/session";
import type { Session } from "@/lib/auth/sessions/session";
import { withDistinctNames } from "@/lib/auth/sessions/session-name";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { toMinute } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { recordAudit } from "@/lib/db/audit";
import { ActForm, formOf } from "@/lib/office/act-form";
import {
  inForm,
  Lines,
  PlanFields,
  parseLines,
  parseTime,
  readSeen,
  readTerms,
  requireSeen,
  TimeField,
  toSeen,
} from "@/lib/office/forms";
import {
  asFile,
  formAt,
  formWithProof,
  type OfficeAct,
  type OfficeCall,
  requireEmail,
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
        className="fields"
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
      ...(features !== undefined && {
        own_features: inForm("It", () => parseLines(collectSlug, features, [])),
      }),
      ...(limits !== undefined && {
        own_limits: {
          ...Object.fromEntries(before),
          ...inForm("It", () => parseLines(collectLimitOr("plan"), limits, {})),
        },
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
      <ActForm
        act={addCreditsAct}
        call={call}
        hidden={{ email: account.email, once: randomUUID() }}
        className="fields"
      >
        <button type="submit" className="plain">
          Change the balance
        </button>
      </ActForm>
      <Table<CreditEntry>
        rows={entries}
        most={most}
        columns={{
          When: ({ created_at_ms }) => <Instant atMs={created_at_ms} />,
          Credits: ({ thousandths }) =>
            toCredits(thousandths).toLocaleString("en", { signDisplay: "exceptZero" }),
          Reason: (entry) => <UntrustedText>{describeReason(entry)}</UntrustedText>,
          ...(entries.some(({ backend_id }) => backend_id) && {
            "Written by": ({ backend_id, reference, reverses, hold_id }: CreditEntry) => (
              <UntrustedText>
                {backend_id &&
                  `backend ${backend_id}${reverses ? ", gives a spend back" : hold_id ? ", settles a hold" : ""}${reference ? `: ${reference}` : ""}`}
              </UntrustedText>
            ),
          }),
          ...(entries.some(({ price_id }) => price_id) && {
            "Bought at Stripe": ({ price_id, checkout }: CreditEntry) =>
              price_id ? `${price_id} ${checkout ?? ""}` : "–",
          }),
        }}
        whenEmpty="No entries."
      />
    </>
  );
}

const maxSessions = 50;

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
  const end = { action: endSessionAct.form.path, hidden: { email } };
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="rows joined">
        {withDistinctNames(sessions)
          .slice(0, maxSessions)
          .map((session) => (
            <SessionRow key={session.id} session={session} end={end} nowMs={nowMs} />
          ))}
      </ul>
      {sessions.length > 1 && (
        <PostButton
          action={endSessionAct.form.path}
          hidden={{ email, all: "all" }}
          label={`End all ${sessions.length} sessions`}
        >
          End all {sessions.length}
        </PostButton>
      )}
    </>
  );
}

/** What is stored about the person, as a file, and the forms that take it away: also of an account that cannot be read. */
export function Person({ email, account }: { email: string; account: Leaver | undefined }) {
  return (
    <section>
      <h2>The person</h2>
      <PostButton action={exportPerson.path} hidden={{ email }} look="plain small">
        Export everything as JSON
      </PostButton>
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

type Leaver = { id: string; deletes_at_ms: number | null };

/** Who read it is in the audit. */
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
  (json) => asFile("person.json", "application/json", toJson(json)),
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

export const accountActs = [
  setTerms,
  formOf(addCreditsAct),
  formOf(endSessionAct),
  formOf(deleteAccountAct),
  exportPerson,
  erase,
  keep,
];
