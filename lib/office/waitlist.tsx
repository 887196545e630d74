import { PostForm } from "@/app/(pages)/post-form";
import { queueInvitation } from "@/lib/accounts/joining/send-invitation";
import { selectWaitlist } from "@/lib/accounts/joining/waitlist";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { effectInWords } from "@/lib/admin/act";
import { notAnEmail, parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { confirmationDays, invitationDays } from "@/lib/config/lifetimes";
import { Choice, Field, Label, planOptions, readTerms } from "@/lib/office/forms";
import { doForEach, type NotDone, showOutcomes, someOf } from "@/lib/office/outcomes";
import {
  addressOf,
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
} from "@/lib/office/page";
import { LongTable, perPage } from "@/lib/office/table";
import { Instant, Person, Tick } from "@/lib/office/values";
import { readPlans } from "@/lib/plans/plan";

const maxInvited = 200; // in one request; each is a transaction, and with Clerk a request to it

async function show(call: OfficeCall) {
  const { db, input, typed } = call;
  const [, afterMs = "0", email = ""] = /^(\d{1,15}) (.+)$/.exec(input("after") ?? "") ?? [];
  const rows = await selectWaitlist(db, { joined_at_ms: Number(afterMs), email })
    .where("invited_at_ms", "is", null)
    .limit(perPage + 1)
    .execute();
  return (
    <>
      <p className="lead">Who asked for an invitation, the one who waits longest first.</p>
      <p className="quiet">
        An address that is not confirmed may have been mistyped, or be someone else’s. It leaves the waitlist
        after {confirmationDays} days.
      </p>
      <PostForm action={inviteMany.path} className="stack">
        <LongTable
          rows={rows}
          columns={{
            Invite: ({ email }) => <Tick email={email} word="Invite" />,
            Email: ({ email }) => <Person email={email} />,
            Joined: ({ joined_at_ms }) => <Instant atMs={joined_at_ms} />,
            Confirmed: ({ confirmed_at_ms }) =>
              confirmed_at_ms === null ? "Not yet" : <Instant atMs={confirmed_at_ms} />,
          }}
          whenEmpty="No one waits."
          hrefAfter={(last) => addressOf(waiting.path, { after: `${last.joined_at_ms} ${last.email}` })}
        />
        <h2>Invite those that you tick, and others</h2>
        <label htmlFor="emails">
          <Label words="Others to invite, one a line" />
        </label>
        <textarea id="emails" name="emails" rows={4} spellCheck={false} defaultValue={typed("emails")} />
        <div className="filter">
          <Choice
            call={call}
            name="plan"
            label="Plan"
            current="trial"
            options={planOptions(await readPlans(db))}
          />
          <Field
            call={call}
            name="trialDays"
            label="Days of a trial"
            current={defaultTrialDays}
            inputMode="numeric"
          />
          <Field
            call={call}
            name="assistantLimit"
            label="Assistants at most (the plan’s if empty)"
            inputMode="numeric"
          />
        </div>
        <p className="effect">{effectInWords(inviteMany.effect)}</p>
        <button type="submit">Send the invitations</button>
      </PostForm>
    </>
  );
}

/** Invites every email that the form lists or that is ticked, with one plan. Refused ones are listed with the reason. */
export const inviteMany = {
  ...formWithProof("/waiting/invite"),
  name: "send invitations",
  done: "All were invited. Their mails are on the way.",
  effect: {
    does: `Each gets a mail with a link that is good for ${invitationDays} days, and has an account with this plan once they follow it. Nothing is charged.`,
    undo: "A mail that is sent cannot be called back. Another invitation takes the place of one that is open.",
  },
  async preview(call) {
    const { plan = "", given_plan, trial_days = defaultTrialDays, assistant_limit } = readTerms(call);
    const title = (await readPlans(call.db)).get(given_plan ?? plan)?.title ?? plan;
    const changes = [
      {
        what: "Plan",
        after: plan === "trial" ? `${title}, ${trial_days} days from when they accept` : title,
      },
      ...(assistant_limit ? [{ what: "Assistants at most", after: String(assistant_limit) }] : []),
    ];
    return { whom: someOf(readListed(call)), changes };
  },
  async run(call) {
    const { db, by } = call;
    const terms = readTerms(call);
    const listed = readListed(call);
    const queued: NotDone[] = [];
    const refused = await doForEach(listed, async (text) => {
      const email = parseTypedEmail(text);
      if (!email) throw invalid(notAnEmail[whyNotAnEmail(text)]);
      const { url } = await queueInvitation(db, email, terms, by);
      if (!url) queued.push({ email: text, why: "Queued: Clerk takes 100 invitations an hour." });
    });
    const notDone = [...refused, ...queued];
    if (notDone.length === 0) return;
    return showOutcomes({
      title: `Invited ${listed.length - refused.length} of ${listed.length}`,
      caption: queued.length > 0 ? "Not invited, or not yet" : "Not invited",
      notDone,
      back: waiting,
      ...(queued.length > 0 && { note: `${queued.length} of them wait until Clerk takes more.` }),
    });
  },
} satisfies OfficeAct;

/** Every email that the form lists or that is ticked. Throws an {@link ApiError} for none and for too many. */
function readListed({ input }: OfficeCall): string[] {
  const typed = (input("emails") ?? "").normalize("NFKC").toLowerCase();
  const listed = [...new Set(typed.split(/[\n;]/).flatMap(readEmails))];
  if (listed.length === 0) throw invalid("Write at least one email.");
  if (listed.length > maxInvited)
    throw invalid(`Invite at most ${maxInvited} at once: there are ${listed.length}.`);
  return listed;
}

/**
 * The emails in a part of a list, as a mail program copies recipients, with their names before them, or as a spreadsheet, with
 * what its rows have beside them. In a typed list, a word like `ann.example.com` is an email all the same, which is refused, and
 * so is a part without any.
 */
function readEmails(part: string): string[] {
  const named = part.match(/(?<=<)[^<>\s]+(?=>)/g) ?? [];
  const isTyped = named.length === 0 && !part.includes("\t");
  const words = part.replace(/<[^<>]*>/g, " ").split(/[\s,]+/);
  const others = words
    .map((word) => word.replace(/^["'(]+|["')]+$/g, ""))
    .filter((word) => word.includes("@") || (isTyped && /\.[a-z]{2,}$/.test(word)));
  const emails = [...named, ...others];
  return emails.length > 0 ? emails : [part.replace(/\s+/g, " ").trim()].filter(Boolean);
}

export const waiting: OfficePage = { path: "/waiting", name: "Waitlist", show, acts: [inviteMany] };
