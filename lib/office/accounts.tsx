import { sql } from "kysely";
import { statusNames } from "@/app/(pages)/home/verdict";
import { type Plan, parseAccount, plans } from "@/lib/accounts/account";
import { toCredits } from "@/lib/accounts/ledger";
import { type Db, isPostgres } from "@/lib/db/store";
import { trialEndOf } from "@/lib/office/account-terms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { homeStateOf, Instant, NextPage, Person, perPage, Table } from "@/lib/office/parts";

export const accounts: OfficePage = { path: "/accounts", name: "Accounts", show };

const lastCharacter = "\u{10ffff}";

/** The accounts by email, or the trials by their end. */
async function show({ db, nowMs, input }: OfficeCall) {
  const trials = input("trials");
  const filter = {
    start: input("start")?.toLowerCase(),
    plan: plans.find((plan) => plan === input("plan")),
    after: input("after"),
  };
  const rows = trials ? await readTrials(db, trials, input("after"), nowMs) : await readByEmail(db, filter);
  return {
    title: "Accounts",
    content: (
      <>
        <h1>Accounts</h1>
        <Filter start={input("start")} plan={filter.plan} trials={trials} />
        <Table
          rows={rows.slice(0, perPage).map((row) => ({ email: row.email, account: parseAccount(row) }))}
          columns={[
            ["Email", ({ email }) => <Person email={email} />],
            ["Status", ({ account }) => statusNames[homeStateOf(account, nowMs).status]],
            ["Trial ends", ({ account }) => <Instant atMs={account && trialEndOf(account)} nowMs={nowMs} />],
            ["Assistants", ({ account }) => account?.assistantLimit ?? "–"],
            [
              "Credits",
              ({ account }) => (account ? toCredits(account.creditThousandths).toLocaleString("en") : "–"),
            ],
            ["Since", ({ account }) => <Instant atMs={account?.createdAtMs} nowMs={nowMs} />],
          ]}
          whenEmpty="No account matches."
        />
        <NextPage
          rows={rows}
          addressAfter={({ trial_ends_at_ms, email }) =>
            addressOf(accounts.path, {
              start: input("start"),
              plan: filter.plan,
              trials,
              after: trials ? `${trial_ends_at_ms} ${email}` : email,
            })
          }
        >
          Next {perPage}
        </NextPage>
      </>
    ),
  };
}

function Filter({
  start,
  plan,
  trials,
}: {
  start: string | undefined;
  plan: Plan | undefined;
  trials: string | undefined;
}) {
  return (
    <>
      <form action={accounts.path} className="filter">
        <label>
          Start of the email
          <input name="start" type="search" autoComplete="off" spellCheck={false} defaultValue={start} />
        </label>
        <label>
          Plan
          <select name="plan" defaultValue={plan}>
            <option value="">any</option>
            {plans.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="submit">Find</button>
      </form>
      <p className="quiet">
        Trials by their end:{" "}
        {Object.entries(trialLists).map(([name, words], at) => (
          <span key={name}>
            {at > 0 && " · "}
            <a
              href={addressOf(accounts.path, { trials: name })}
              aria-current={trials === name ? "true" : undefined}
            >
              {words}
            </a>
          </span>
        ))}
      </p>
    </>
  );
}

const trialLists = { running: "running", ended: "ended, newest first" };

const columns = [
  "id",
  "email",
  "subject",
  "plan",
  "trial_ends_at_ms",
  "assistant_limit",
  "credit_thousandths",
  "created_at_ms",
] as const;

/** Emails are in the order of their bytes, in which those with the same start are neighbours. */
function readByEmail(
  db: Db,
  { start, plan, after }: { start?: string | undefined; plan?: Plan | undefined; after?: string | undefined },
) {
  const email = isPostgres(db) ? sql<string>`email collate "C"` : sql<string>`email`;
  let query = db
    .selectFrom("accounts")
    .select(columns)
    .orderBy(email)
    .limit(perPage + 1);
  if (plan) query = query.where("plan", "=", plan);
  if (start) query = query.where(email, ">=", start).where(email, "<", start + lastCharacter);
  if (after) query = query.where(email, ">", after);
  return query.execute();
}

/** Trials in the order of their end, after a position. */
function readTrials(db: Db, which: string, after: string | undefined, nowMs: number) {
  const hasEnded = which === "ended";
  const direction = hasEnded ? "desc" : "asc";
  let query = db
    .selectFrom("accounts")
    .select(columns)
    .where(sql`plan`, "=", sql`'trial'`) // as in the partial index
    .where("trial_ends_at_ms", hasEnded ? "<=" : ">", nowMs)
    .orderBy("trial_ends_at_ms", direction)
    .orderBy("email", direction)
    .limit(perPage + 1);
  const [, endsAtMs, email = ""] = /^(\d{1,15}) (.+)$/.exec(after ?? "") ?? [];
  if (endsAtMs) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("trial_ends_at_ms", "email"), hasEnded ? "<" : ">", tuple(Number(endsAtMs), email)),
    );
  }
  return query.execute();
}
