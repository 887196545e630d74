import { sql } from "kysely";
import { PostButton } from "@/app/(pages)/post-form";
import { Light } from "@/app/(pages)/status-light";
import { retryMailsAct } from "@/lib/admin/emails";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import { failedMails } from "@/lib/mail/outbox/failed-mails";
import { formOf } from "@/lib/office/act-form";
import { invalid, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Ago, Instant, MailState, Person, UntrustedText } from "@/lib/office/values";

const maxRows = 50;
const maxGrouped = 1000;
const maxOpen = 5;

async function show({ db }: OfficeCall) {
  const failed = failedMails(db)
    .orderBy("next_attempt_at_ms", "desc")
    .orderBy("onboarding_emails.id", "desc");
  const found = await readInOneQuery(db, {
    groups: db
      .selectFrom(failed.select("failure").limit(maxGrouped).as("newest"))
      .select(["failure", sql<number>`count(*)`.as("mails")])
      .groupBy("failure")
      .orderBy(sql`count(*)`, "desc")
      .limit(maxRows),
    onboarding: failed
      .leftJoin("accounts", "accounts.id", "onboarding_emails.account_id")
      .select(["onboarding_emails.id", "accounts.email", "onboarding_emails.kind", "due_at_ms", "failure"])
      .limit(maxRows),
    signIn: db
      .selectFrom("sign_in_mail_attempts")
      .select(["email", "kind", "at_ms", "state", "failure"])
      .where(sql`state`, "<>", sql`'sent'`) // as in the partial index
      .orderBy("at_ms", "desc")
      .orderBy("id", "desc")
      .limit(maxRows),
  });
  const hasFailed = found.groups.length > 0 || found.signIn.length > 0;
  return (
    <>
      <p className="lead">
        What the mail provider refused, by its words. A mail that is tried again goes out at once.
      </p>
      {!hasFailed && <Light colour="good">None failed.</Light>}
      {found.groups.length > 0 && <h2>Onboarding</h2>}
      {found.groups.map((group) => (
        <Group
          key={group.failure}
          {...group}
          newest={found.onboarding.filter(({ failure }) => failure === group.failure)}
        />
      ))}
      {found.signIn.length > 0 && (
        <>
          <h2>Codes, invitations and others about accounts</h2>
          <Table
            rows={found.signIn}
            most={maxRows}
            columns={{
              To: ({ email }) => <Person email={email} />,
              Mail: ({ kind }) => inWords(kind),
              State: ({ state, failure }) => (
                <>
                  <MailState state={state} />
                  <small>
                    <UntrustedText>{failure}</UntrustedText>
                  </small>
                </>
              ),
              "Last tried": ({ at_ms }) => <Instant atMs={at_ms} />,
            }}
          />
          <p className="quiet">
            A code or link that was not delivered is not kept: its reader asks for another code, or is invited
            again.
          </p>
        </>
      )}
    </>
  );
}

type GroupProps = {
  failure: string | null;
  mails: number;
  newest: { id: string; email: string | null; kind: string; due_at_ms: number }[];
};

/** The mails that failed with the same words of the provider: how many, the newest of them, and buttons that try them again. */
function Group({ failure, mails, newest }: GroupProps) {
  const isOne = mails === 1;
  return (
    <section className="card system">
      <h3>
        <UntrustedText>{failure}</UntrustedText>
      </h3>
      <PostButton
        action={retryMailsAct.form.path}
        hidden={{ failure: failure ?? "" }}
        label={`Try again: ${failure}`}
        look="plain small"
      >
        {isOne ? "Try again" : `Try all ${mails === maxGrouped ? "" : mails} again`}
      </PostButton>
      <details open={mails <= maxOpen}>
        <summary>
          {mails > newest.length ? `The newest ${newest.length}` : isOne ? "The mail" : "The mails"}
        </summary>
        <ul className="notes mails">
          {newest.map(({ id, email, kind, due_at_ms }) => (
            <li key={id}>
              {email ? <Person email={email} /> : <span>an account that is gone</span>}
              <span>{inWords(kind)}</span>
              <Ago atMs={due_at_ms} before="due" />
              {!isOne && (
                <PostButton
                  action={retryMailsAct.form.path}
                  hidden={{ id }}
                  label={`Try again: ${kind} to ${email}`}
                  look="linklike"
                >
                  Try again
                </PostButton>
              )}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

const inWords = (kind: string) => kind.replaceAll("-", " ");

export const mails: OfficePage = {
  path: "/mails",
  name: "Mails",
  title: () => "Mails that failed",
  show,
  acts: [
    formOf(retryMailsAct, ({ retried }) => {
      if (retried === 0) throw invalid("No such mail has failed, or its reader wants none.");
      return undefined;
    }),
  ],
};
