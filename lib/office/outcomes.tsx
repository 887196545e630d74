import { ButtonLink } from "@/app/(pages)/button-link";
import { ApiError } from "@/lib/http/errors";
import type { OfficePage, OfficeView } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { UntrustedText } from "@/lib/office/values";
import { log } from "@/lib/runtime/log";

/** An email for which an act was not done, or not yet, and why. */
export type NotDone = { email: string; why: string };

/** Does something for each email, in a transaction of its own. Returns those for which it was not done. */
export async function doForEach(emails: string[], act: (email: string) => Promise<void>): Promise<NotDone[]> {
  const notDone: NotDone[] = [];
  for (const email of emails) {
    try {
      await act(email);
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status < 500) notDone.push({ email, why: thrown.message });
      else {
        log().error({ err: thrown }, "an act of an operator on several failed for one");
        notDone.push({
          email,
          why: "That failed on our side, perhaps after it was done: look at the account.",
        });
      }
    }
  }
  return notDone;
}

const named = 3;

/** Several emails in words: all of a few, of more the first ones and how many others. */
export function someOf(emails: string[]): string {
  const more = emails.length - named;
  if (more < 2) return emails.join(", ");
  return `${emails.slice(0, named).join(", ")} and ${more} more`;
}

type Outcomes = {
  title: string;
  caption: string;
  notDone: NotDone[];
  back: Back;
  note?: string;
};

/** What an act on several was not done for, with the reason for each. */
export function showOutcomes({ title, caption, notDone, back, note }: Outcomes): OfficeView {
  return {
    title,
    content: (
      <>
        {note && <p>{note}</p>}
        <Table
          caption={caption}
          rows={notDone}
          columns={{
            Email: ({ email }) => <UntrustedText>{email}</UntrustedText>,
            Why: ({ why }) => why,
          }}
        />
        <BackTo {...back} />
      </>
    ),
  };
}

/** What is shown this once, because it is kept nowhere. */
export function showOnce(title: string, words: string, secret: string | undefined, back: Back): OfficeView {
  return {
    title,
    content: (
      <>
        <p>{words}</p>
        <pre>
          <code>{secret}</code>
        </pre>
        <BackTo {...back} />
      </>
    ),
  };
}

type Back = Pick<OfficePage, "path" | "name">;

/** The way back to a page from what an act has shown in its place. */
export function BackTo({ path, name }: Back) {
  return (
    <ButtonLink to={path} isPlain>
      {`Back to the ${name?.toLowerCase()}`}
    </ButtonLink>
  );
}
