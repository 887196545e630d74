import { sql } from "kysely";
import { PostForm } from "@/app/(pages)/post-form";
import { type Account, parseAccount, trialEndOf } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { accountStates } from "@/lib/accounts/accounts";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { type AccountSearch, searchAccounts } from "@/lib/accounts/list/account-search";
import { asIso } from "@/lib/config/instants";
import { moneyInWords } from "@/lib/config/money";
import { settings } from "@/lib/config/settings";
import { paginate } from "@/lib/db/pagination";
import { isSomeones } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { FilterLinks, Matches } from "@/lib/office/filter-links";
import { FindForm, nothingFound, soughtIn } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { changeSeveral, SeveralFields } from "@/lib/office/several-accounts";
import { groupsOf, State, stateWords } from "@/lib/office/state";
import { type Columns, LongTable, perPage } from "@/lib/office/table";
import { Day, Person, Tick, UntrustedText } from "@/lib/office/values";
import { currentLicence, describeDue, selectLicences } from "@/lib/plans/licence-state";
import { contentsOf, type Plans, readPlans } from "@/lib/plans/plan";
import { standingOf } from "@/lib/plans/standing";
import { csvOf } from "@/lib/runtime/csv";

const maxRowsOfFile = 5000;

export const accounts: OfficePage = {
  path: "/accounts",
  name: "Accounts",
  show,
  file: { path: "/accounts.csv", read: readFile },
  acts: [changeSeveral],
};

type Row = Tables["accounts"];
type LicensedRow = Awaited<ReturnType<typeof withLicences>>[number];

/** What is looked for, as the parameters of an address. */
function readSearch({ input }: OfficeCall) {
  const search = { find: soughtIn(input("find")), plan: input("plan"), trials: input("trials") };
  const state = accountStates.find((one) => one === input("state"));
  return { ...search, state, payment: input("payment") === "due" ? "due" : undefined };
}

type Search = ReturnType<typeof readSearch>;

const toSearch = ({ find: text, plan, state, payment }: Search): AccountSearch => ({
  text,
  plan,
  state,
  isOwing: payment === "due",
});

async function show(call: OfficeCall) {
  const { db, nowMs, input } = call;
  const search = readSearch(call);
  const { find, plan, state, payment, trials } = search;
  const after = input("after");
  const { rows, goesOnAfter } = trials
    ? {
        rows: await selectTrials(db, trials, after, nowMs)
          .limit(perPage + 1)
          .execute(),
      }
    : await searchAccounts(db, { ...toSearch(search), after }, perPage + 1);
  const plans = await readPlans(db);
  // A form that is refused comes back with the same accounts, chosen as they were.
  const here = Object.entries({ ...search, after }).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  const to = (after: string) => addressOf(accounts.path, { find, plan, state, payment, after });
  return (
    <>
      <p className="lead">Everyone who has an account. Open one for its plan, credits and access.</p>
      <Filters call={call} search={search} plans={plans} />
      <Matches
        of={accounts.path}
        by={search}
        nouns={["account", "accounts"]}
        count={after || goesOnAfter ? undefined : rows.length}
      />
      <PostForm action={changeSeveral.path} hidden={Object.fromEntries(here)}>
        <LongTable
          rows={(await withLicences(db, rows)).map((row) => ({ ...row, account: parseAccount(row, nowMs) }))}
          columns={columnsOf(call, plans)}
          whenEmpty={goesOnAfter ? "None so far." : nothingFound("No account matches.", find)}
          hrefAfter={({ trial_ends_at_ms, email }) =>
            trials ? addressOf(accounts.path, { trials, after: `${trial_ends_at_ms} ${email}` }) : to(email)
          }
        />
        {goesOnAfter && (
          <p>
            <a href={to(goesOnAfter)}>Search on</a> after <UntrustedText>{goesOnAfter}</UntrustedText>: there
            are more accounts than are looked at in one search.
          </p>
        )}
        {rows.length > 0 && <SeveralFields call={call} plans={plans} />}
      </PostForm>
      <p className="quiet">
        <a href={addressOf("/accounts.csv", { ...search })}>These accounts as CSV</a>, at most{" "}
        {maxRowsOfFile.toLocaleString("en")}.
      </p>
    </>
  );
}

type FiltersProps = { call: OfficeCall; search: Search; plans: Plans };

function Filters({ call, search: { trials, ...search }, plans }: FiltersProps) {
  const { find, plan, state, payment } = search;
  const current = (value: string | undefined) => (trials ? "-" : value);
  const all = { of: accounts.path, kept: search };
  // A plan that is retired is kept by who has it.
  const titles = Object.fromEntries([...plans.values()].map(({ name, title }) => [name, title]));
  return (
    <>
      <FindForm
        of={accounts.path}
        call={call}
        kept={{ plan, state, payment }}
        label="Part of the email or reference, or an id"
        current={find}
      />
      <FilterLinks
        {...all}
        name="state"
        words="State"
        options={{ "": "Any", ...stateWords }}
        current={current(state)}
      />
      <FilterLinks
        {...all}
        name="plan"
        words="Plan"
        options={{ "": "Any", ...titles }}
        current={current(plan)}
      />
      {settings().billing && (
        <FilterLinks
          {...all}
          name="payment"
          words="Payment"
          options={{ "": "Any", due: "Due" }}
          current={current(payment)}
        />
      )}
      <FilterLinks
        of={accounts.path}
        kept={{}}
        name="trials"
        words="Trials by their end"
        options={trialLists}
        current={trials}
      />
    </>
  );
}

function columnsOf(call: OfficeCall, plans: Plans): Columns<LicensedRow & { account: Account | undefined }> {
  const chosen = new Set(call.typed("emails")?.split("\n"));
  return {
    Choose: ({ email }) => <Tick email={email} word="Choose" isTicked={chosen.has(email)} />,
    Email: ({ email, reference }) => (
      <>
        <Person email={email} />
        {reference !== null && (
          <small>
            <UntrustedText>{reference}</UntrustedText>
          </small>
        )}
      </>
    ),
    State: ({ account, licence }) => {
      const standing = standingOf(account, licence, call.nowMs);
      return <State standing={standing} groups={groupsOf(standing)} />;
    },
    Plan: ({ account }) => (account && plans.get(contentsOf(account, plans)?.plan ?? "")?.title) ?? "–",
    ...(settings().billing && {
      Due: ({ licence }: LicensedRow) => (licence && describeDue(licence, moneyInWords)) ?? "–",
    }),
    "Trial ends": ({ account }) => <Day atMs={account && trialEndOf(account)} />,
    Assistants: ({ account }) => {
      const contents = account && contentsOf(account, plans);
      return contents ? (contents.limits.assistants ?? "no limit") : "–";
    },
    Credits: ({ account }) => (account ? toCredits(spendable(account)).toLocaleString("en") : "–"),
    Since: ({ account }) => <Day atMs={account?.created_at_ms} isFar />,
  };
}

const trialLists = { running: "Running", ended: "Ended, newest first" };

/** The accounts, each with its licence from Stripe. */
async function withLicences(db: Db, rows: Row[]) {
  const ids = rows.map(({ id }) => id);
  const bought = settings().billing && ids.length > 0;
  const licences = bought ? await selectLicences(db).where("account_id", "in", ids).execute() : [];
  return rows.map((row) => ({
    ...row,
    licence: currentLicence(licences.filter(({ account_id }) => account_id === row.id)),
  }));
}

/** Trials in the order of their end, after a position. */
function selectTrials(db: Db, which: string, after: string | undefined, nowMs: number) {
  const hasEnded = which === "ended";
  const direction = hasEnded ? "desc" : "asc";
  const query = db
    .selectFrom("accounts")
    .select(accountAt(nowMs))
    .where(sql`plan`, "=", sql`'trial'`) // as in the partial index
    .where("trial_ends_at_ms", hasEnded ? "<=" : ">", nowMs)
    .where(isSomeones)
    .orderBy("trial_ends_at_ms", direction)
    .orderBy("email", direction);
  const [, endsAtMs, email = ""] = /^(\d{1,15}) (.+)$/.exec(after ?? "") ?? [];
  if (!endsAtMs) return query;
  return query.where(({ eb, refTuple, tuple }) =>
    eb(refTuple("trial_ends_at_ms", "email"), hasEnded ? "<" : ">", tuple(Number(endsAtMs), email)),
  );
}

async function* readFile(call: OfficeCall) {
  const { db, nowMs } = call;
  const search = readSearch(call);
  const plans = await readPlans(db);
  const unbounded = { slice: 10_000, slices: Number.POSITIVE_INFINITY };
  const pages = paginate<LicensedRow>(async (last, limit) => {
    if (!search.trials) {
      const from = { ...toSearch(search), after: last?.email };
      return withLicences(db, (await searchAccounts(db, from, limit, unbounded)).rows);
    }
    const after = last && `${last.trial_ends_at_ms} ${last.email}`;
    return withLicences(db, await selectTrials(db, search.trials, after, nowMs).limit(limit).execute());
  }, maxRowsOfFile);
  yield* csvOf(pages, (row) => [toFileRow(row, plans, nowMs)]);
}

function toFileRow(row: LicensedRow, plans: Plans, nowMs: number) {
  const account = parseAccount(row, nowMs);
  const contents = account && contentsOf(account, plans);
  return {
    id: row.id,
    email: row.email,
    reference: row.reference,
    status: standingOf(account, row.licence, nowMs).tag,
    plan: contents?.plan ?? null,
    due: (row.licence && describeDue(row.licence, moneyInWords)) ?? null,
    trialEnds: asIso(account && trialEndOf(account)),
    assistants: contents?.limits.assistants ?? null,
    credits: account ? toCredits(spendable(account)) : null,
    since: asIso(row.created_at_ms),
  };
}
