import { sql } from "kysely";
import { parseAccount, trialEndOf } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { type AccountState, accountStates, selectAccounts, selectByReference } from "@/lib/accounts/accounts";
import { spendable, toCredits } from "@/lib/accounts/ledger";
import type { Db } from "@/lib/db/store";
import { Choice, Field, planOptions } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { LongTable, perPage } from "@/lib/office/table";
import { Instant, Person, UntrustedText } from "@/lib/office/values";
import { contentsOf, readPlans } from "@/lib/plans/plan";
import { standingOf } from "@/lib/plans/standing";

export const accounts: OfficePage = { path: "/accounts", name: "Accounts", show };

async function show(call: OfficeCall) {
  const { db, nowMs, input } = call;
  const [start, plan, trials, after] = [input("start"), input("plan"), input("trials"), input("after")];
  const reference = input("reference");
  const state = accountStates.find((one) => one === input("state"));
  const query = trials
    ? selectTrials(db, trials, after, nowMs)
    : reference
      ? selectByReference(db, reference, after, nowMs)
      : selectAccounts(db, { start, plan, state, after });
  const rows = await query.limit(perPage + 1).execute();
  const plans = await readPlans(db);
  return (
    <>
      <form action={accounts.path} className="filter">
        <Field
          call={call}
          name="start"
          label="Start of the email"
          current={start}
          type="search"
          spellCheck={false}
        />
        <Field
          call={call}
          name="reference"
          label="Part of your reference"
          current={reference}
          type="search"
          spellCheck={false}
        />
        <Choice
          call={call}
          name="plan"
          label="Plan"
          current={plan}
          options={{ "": "any", ...planOptions(plans, plan) }}
        />
        <button type="submit">Find</button>
      </form>
      <Links words="By state" name="state" of={stateWords} current={state} />
      <Links words="Trials by their end" name="trials" of={trialLists} current={trials} />
      <LongTable
        rows={rows.map((row) => ({ ...row, account: parseAccount(row, nowMs) }))}
        columns={{
          Email: ({ email }) => <Person email={email} />,
          Reference: ({ reference }) => <UntrustedText>{reference ?? "–"}</UntrustedText>,
          Status: ({ account }) => standingOf(account, undefined, nowMs).tag,
          "Trial ends": ({ account }) => <Instant atMs={account && trialEndOf(account)} />,
          Plan: ({ account }) => (account && contentsOf(account, plans)?.plan) ?? "–",
          Assistants: ({ account }) => (account && contentsOf(account, plans)?.limits.assistants) ?? "–",
          Credits: ({ account }) => (account ? toCredits(spendable(account)).toLocaleString("en") : "–"),
          Since: ({ account }) => <Instant atMs={account?.created_at_ms} />,
        }}
        whenEmpty="No account matches."
        hrefAfter={({ trial_ends_at_ms, email, reference: last }) => {
          const after = trials ? `${trial_ends_at_ms} ${email}` : reference ? last : email;
          return addressOf(accounts.path, {
            start,
            plan,
            state,
            trials,
            reference,
            after: after ?? undefined,
          });
        }}
      />
    </>
  );
}

type LinksProps = { words: string; name: string; of: Record<string, string>; current: string | undefined };

/** Links to parts of the list. */
function Links({ words, name, of, current }: LinksProps) {
  return (
    <p className="quiet">
      {words}:{" "}
      {Object.entries(of).map(([value, shown], at) => (
        <span key={value}>
          {at > 0 && " · "}
          <a
            href={addressOf(accounts.path, { [name]: value })}
            aria-current={current === value ? "true" : undefined}
          >
            {shown}
          </a>
        </span>
      ))}
    </p>
  );
}

const stateWords: Record<AccountState, string> = {
  licensed: "licensed",
  trial: "on a trial",
  "trial-ended": "trial ended",
  hobby: "hobby",
};

const trialLists = { running: "running", ended: "ended, newest first" };

/** Trials in the order of their end, after a position. */
function selectTrials(db: Db, which: string, after: string | undefined, nowMs: number) {
  const hasEnded = which === "ended";
  const direction = hasEnded ? "desc" : "asc";
  const query = db
    .selectFrom("accounts")
    .select(accountAt(nowMs))
    .where(sql`plan`, "=", sql`'trial'`) // as in the partial index
    .where("trial_ends_at_ms", hasEnded ? "<=" : ">", nowMs)
    .orderBy("trial_ends_at_ms", direction)
    .orderBy("email", direction);
  const [, endsAtMs, email = ""] = /^(\d{1,15}) (.+)$/.exec(after ?? "") ?? [];
  if (!endsAtMs) return query;
  return query.where(({ eb, refTuple, tuple }) =>
    eb(refTuple("trial_ends_at_ms", "email"), hasEnded ? "<" : ">", tuple(Number(endsAtMs), email)),
  );
}
