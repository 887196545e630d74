import { sql } from "kysely";
import { PostButton } from "@/app/(pages)/post-form";
import { retryMailsAct } from "@/lib/admin/emails";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import { failedMails } from "@/lib/mail/outbox/failed-mails";
import { formOf } from "@/lib/office/act-form";
import { invalid, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, MailState, Person, UntrustedText } from "@/lib/office/values";

const maxRows = 50;
const maxGrouped = 1000;

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
  return (
    <>
      <h2>Onboarding, by the provider’s words</h2>
      <Table
        rows={found.groups}
        most={maxRows}
        columns={{
          "Provider’s words": ({ failure }) => <UntrustedText>{failure}</UntrustedText>,
          Mails: ({ mails }) => (mails === maxGrouped ? `${maxGrouped} or more` : mails),
          "": ({ failure }) => (
            <PostButton
              action={retryMailsAct.form.path}
              hidden={{ failure: failure ?? "" }}
              label={`Try all again: ${failure}`}
            >
              Try all again
            </PostButton>
          ),
        }}
        whenEmpty="None failed."
      />
      <h2>Onboarding, the newest</h2>
      <Table
        rows={found.onboarding}
        most={maxRows}
        columns={{
          To: ({ email }) => (email ? <Person email={email} /> : "an account that is gone"),
          Mail: ({ kind }) => kind,
          "Was due": ({ due_at_ms }) => <Instant atMs={due_at_ms} />,
          "Provider’s words": ({ failure }) => <UntrustedText>{failure}</UntrustedText>,
          "": ({ id, kind, email }) => (
            <PostButton
              action={retryMailsAct.form.path}
              hidden={{ id }}
              label={`Try again: ${kind} to ${email}`}
            >
              Try again
            </PostButton>
          ),
        }}
        whenEmpty="None failed."
      />
      <h2>Codes, invitations and security</h2>
      <Table
        rows={found.signIn}
        most={maxRows}
        columns={{
          To: ({ email }) => <Person email={email} />,
          Mail: ({ kind }) => kind,
          "Last tried": ({ at_ms }) => <Instant atMs={at_ms} />,
          State: ({ state }) => <MailState state={state} />,
          "Provider’s words": ({ failure }) => <UntrustedText>{failure}</UntrustedText>,
        }}
        whenEmpty="None failed."
      />
      <p className="quiet">
        A code or link that was not delivered is not kept: its reader asks for another code, or is invited
        again.
      </p>
    </>
  );
}

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
