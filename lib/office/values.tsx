import { Light } from "@/app/(pages)/status-light";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { dayInWords, describeDistance, minuteInWords } from "@/lib/config/instants";
import { addressOf } from "@/lib/office/page";

/** A value that a stranger chose: its direction of writing does not reorder what is next to it. */
export function UntrustedText({ children }: { children: string | null | undefined }) {
  return children == null ? <None /> : <bdi>{children}</bdi>;
}

/** A link to the page of an account, or of an email without one. */
export function Person({ email }: { email: string }) {
  return (
    <a href={addressOf("/account", { email })}>
      <UntrustedText>{email}</UntrustedText>
    </a>
  );
}

/** A box for one row of several. Its word shows where the row is a card. */
export function Tick({ email, word, isTicked }: { email: string; word: string; isTicked?: boolean }) {
  return (
    <label className="choice">
      <input
        type="checkbox"
        name="emails"
        value={email}
        defaultChecked={isTicked}
        aria-label={`${word} ${email}`}
      />
      <span>{word}</span>
    </label>
  );
}

/** A link to an object in Stripe's dashboard. */
export function AtStripe({ kind, id }: { kind: Parameters<typeof dashboardUrl>[1]; id: string | null }) {
  return id ? <a href={dashboardUrl(id, kind)}>{id}</a> : <None />;
}

/** A time in UTC to the minute, with its distance from now. */
export function Instant({ atMs }: { atMs: number | null | undefined }) {
  if (atMs == null) return <None />;
  const iso = new Date(atMs).toISOString();
  const [day, minute] = minuteInWords(atMs).split(", ");
  return (
    <time dateTime={iso} title={iso}>
      <span className="unbroken">{day},</span> <span className="unbroken">{minute}</span>{" "}
      <span className="quiet unbroken">· {describeDistance(atMs, Date.now())}</span>
    </time>
  );
}

/** A text in which the times of the shell are as the office has them: in UTC to the minute. */
export const toTheMinute = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z/g, (iso) => minuteInWords(Date.parse(iso)));

/** The distance of a time from now, the exact time is in its title. */
export function Ago({ atMs, before }: { atMs: number; before?: string }) {
  const iso = new Date(atMs).toISOString();
  return (
    <time className="quiet unbroken" dateTime={iso} title={iso}>
      {before} {describeDistance(atMs, Date.now())}
    </time>
  );
}

/** A day, for lists. The exact time is in its title. */
export function Day({ atMs, isFar }: { atMs: number | null | undefined; isFar?: true }) {
  if (atMs == null) return <None />;
  const iso = new Date(atMs).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      <span className="unbroken">{dayInWords(atMs)}</span>{" "}
      {!isFar && <span className="quiet unbroken">· {describeDistance(atMs, Date.now())}</span>}
    </time>
  );
}

/** Nothing, which a card of a narrow screen leaves out. */
export const None = () => <span className="none">–</span>;

/** Whether a mail was delivered, as it is recorded. */
export function MailState({ state }: { state: string }) {
  const colour = { sent: "good", failed: "stopped", retrying: "soon" } as const;
  return <Light colour={colour[state as keyof typeof colour] ?? "unknown"}>{state}</Light>;
}
