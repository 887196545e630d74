import { describeChanges, type Fields, findEmails, namesOf } from "@/lib/accounts/audit-trail";
import { dayMs } from "@/lib/config/durations";
import { parseTypedEmail } from "@/lib/config/email-address";
import { type AuditEntry, auditEntries } from "@/lib/db/audit";
import { actorInWords, kindInWords, kindsInWords } from "@/lib/office/audit-words";
import { Choice, Field } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { LongTable, perPage } from "@/lib/office/table";
import { Ago, Person, toTheMinute, UntrustedText } from "@/lib/office/values";
import { clock } from "@/lib/status/parts";

export const audit: OfficePage = { path: "/audit", name: "Audit", show };

async function show(call: OfficeCall) {
  const { db, input } = call;
  const sought = input("whom");
  const filter = {
    who: input("who"),
    whom: sought && (parseTypedEmail(sought) ?? sought.toLowerCase()),
    // As the column shows Stripe's own word for a state.
    what: input("what")?.replace(/^(subscription \w+) (\w+)$/, "$1_$2"),
    day: input("day"),
  };
  const dayStartMs = Date.parse(`${filter.day}T00:00Z`);
  const day = Number.isNaN(dayStartMs) ? {} : { sinceMs: dayStartMs, untilMs: dayStartMs + dayMs };
  const [, atMs, id = ""] = /^(\d{1,15}) ([\w-]+)$/.exec(input("after") ?? "") ?? [];
  const { who, what } = filter;
  const whom = filter.whom ? await namesOf(db, filter.whom) : undefined;
  const after = atMs ? { at_ms: Number(atMs), id } : undefined;
  const query = auditEntries(db, { who, whom, what, ...day, after });
  const rows = await query.limit(perPage + 1).execute();
  const shown = rows.slice(0, perPage);
  const emails = await findEmails(db, shown);
  const newestOf = new Map(shown.toReversed().map((row) => [days.format(row.at_ms), row]));
  const showWhen = (entry: AuditEntry) => {
    const day = days.format(entry.at_ms);
    return (
      <>
        {newestOf.get(day) === entry && <b className="day">{day}</b>}
        <span className="unbroken">{clock(entry.at_ms)}</span> · <Ago atMs={entry.at_ms} />
      </>
    );
  };
  return (
    <>
      <p className="lead">Who did what to whom, the newest first.</p>
      <form action={audit.path} className="filter">
        {fields.map((field) => (
          <Field key={field.name} call={call} current={filter[field.name]} spellCheck={false} {...field} />
        ))}
        <Choice call={call} name="what" label="What" current={what} options={kindOptions(what)} />
        <button type="submit" className="plain">
          Find
        </button>
        {Object.values(filter).some(Boolean) && <a href={audit.path}>Clear</a>}
      </form>
      <LongTable
        rows={rows}
        columns={{
          When: showWhen,
          "Who did what": ({ whom, ...entry }) => <Deed {...entry} whom={emails.get(whom ?? "") ?? whom} />,
          Change,
        }}
        whenEmpty="No entry matches."
        hrefAfter={({ at_ms, id }) => addressOf(audit.path, { ...filter, after: `${at_ms} ${id}` })}
        next="Older"
      />
    </>
  );
}

const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

const fields = [
  { name: "who", label: "Who", placeholder: "operator ann" },
  { name: "whom", label: "Whom", placeholder: "ceo@example.com" },
  { name: "day", label: "Day", type: "date" },
] as const;

/** The kinds by their names, as a {@link Choice} has them, and one without words that is looked for. */
function kindOptions(sought: string | undefined): Record<string, string> {
  const kinds = [...Object.keys(kindsInWords), ...subscriptionKinds].toSorted();
  const named = kinds.map((kind) => [kind, `${kind}: ${kindInWords(kind, false)}`]);
  return { "": "Anything", ...(sought && { [sought]: sought }), ...Object.fromEntries(named) };
}

/** What Stripe reports of a subscription, and what became of one by its payments. */
const subscriptionKinds = [
  "active",
  "canceled",
  "gone",
  "incomplete",
  "incomplete_expired",
  "past_due",
  "paused",
  "refunded",
  "trialing",
  "unpaid",
].map((status) => `subscription ${status}`);

/** Who did what to whom, who is left out where all is about one. The kind that the filter takes is in its title. */
export function Deed({ who, what, whom = null }: DeedProps) {
  return (
    <span title={what}>
      <b>
        <UntrustedText>{actorInWords(who)}</UntrustedText>
      </b>{" "}
      {kindInWords(what, whom !== null)}{" "}
      {whom?.includes("@") ? <Person email={whom} /> : whom && <UntrustedText>{whom}</UntrustedText>}
    </span>
  );
}

type DeedProps = Pick<AuditEntry, "who" | "what"> & { whom?: string | null };

/** What was changed. */
export const Change = ({ before, after }: Pick<AuditEntry, "before" | "after">) => (
  <UntrustedText>{inWords(parse(before), parse(after))}</UntrustedText>
);

const parse = (json: string | null): Fields => (json === null ? null : JSON.parse(json));

/** What changed, without what means nothing to a reader: a session and a passkey are named as their owner reads them. */
function inWords(before: Fields, after: Fields): string | null {
  const isOne = before === null || after === null;
  const [had, has] = [named(before, isOne), named(after, isOne)];
  const items = [...new Map([...had.items, ...has.items])].map(([id, name]) =>
    had.items.has(id) && !has.items.has(id) ? `${name} → gone` : name,
  );
  const changes = [...items, describeChanges(had.rest, has.rest)].filter(Boolean).join(", ");
  return toTheMinute(changes).replace(/(?<![\w-])([\w-]{8})[\w-]{35}(?![\w-])/g, "$1…") || null;
}

function named(fields: Fields, isOne: boolean): { items: Map<string, string>; rest: Fields } {
  const items = new Map<string, string>();
  const rest: Record<string, unknown> = {};
  const { name: app, origin, ...others } = fields ?? {};
  if (isOne && app && origin)
    items.set("app", `app “${app}”${/\s/.test(`${origin}`) ? "" : ` of ${origin}`}`);
  for (const [name, value] of Object.entries(items.size > 0 ? others : (fields ?? {}))) {
    const item = nameOf(name, value);
    if (item) items.set(name, item);
    else if (!unsaid.has(name) && !(isOne && known.has(name))) rest[name] = value;
  }
  return { items, rest: fields && rest };
}

/** A session or a passkey in words; `undefined` for what is another field. */
function nameOf(id: string, value: unknown): string | undefined {
  const { kind = "session", name, addedAt } = (value ?? {}) as Partial<Record<string, string>>;
  if (addedAt) return `passkey of ${addedAt}`;
  if (!id.startsWith("sess_")) return undefined;
  return name ? `${kind} “${name}”` : kind;
}

/** Ids, hashes and counters. */
const unsaid = new Set(["id", "version", "suppressed"]);

/** What says nothing more to a reader of what was added or has gone. */
const known = new Set(["email", "subject", "created_at_ms", "held_thousandths"]);
