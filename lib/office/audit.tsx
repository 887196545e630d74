import { describeChanges, type Fields, findEmails, namesOf } from "@/lib/accounts/audit-trail";
import { dayMs } from "@/lib/config/durations";
import { type AuditEntry, auditEntries } from "@/lib/db/audit";
import { Field } from "@/lib/office/forms";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { type Columns, LongTable, perPage } from "@/lib/office/table";
import { Ago, Instant, Person, UntrustedText } from "@/lib/office/values";
import { clock } from "@/lib/status/parts";

export const audit: OfficePage = { path: "/audit", name: "Audit", show };

async function show(call: OfficeCall) {
  const { db, input } = call;
  const filter = {
    who: input("who"),
    whom: input("whom")?.toLowerCase(),
    what: input("what"),
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
  const showWhom = (entry: AuditEntry) => {
    const whom = emails.get(entry.whom ?? "") ?? entry.whom;
    return whom?.includes("@") ? <Person email={whom} /> : <UntrustedText>{whom}</UntrustedText>;
  };
  const showWhen = (entry: AuditEntry) => {
    const day = days.format(entry.at_ms);
    return (
      <>
        {newestOf.get(day) === entry && <b className="day">{day}</b>}
        <span className="unbroken">{clock(entry.at_ms)}</span> <Ago atMs={entry.at_ms} />
      </>
    );
  };
  return (
    <>
      <p className="lead">Who changed what, the newest first.</p>
      <form action={audit.path} className="filter">
        {fields.map((field) => (
          <Field key={field.name} call={call} current={filter[field.name]} spellCheck={false} {...field} />
        ))}
        <button type="submit">Find</button>
        {Object.values(filter).some(Boolean) && <a href={audit.path}>Show all</a>}
      </form>
      <LongTable
        rows={rows}
        columns={{ ...auditColumns({ Whom: showWhom }), When: showWhen }}
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
  { name: "what", label: "What", placeholder: "account set" },
  { name: "day", label: "Day", type: "date" },
] as const;

/** The columns of the audit. `more` go before what has changed. */
export function auditColumns(more: Columns<AuditEntry> = {}): Columns<AuditEntry> {
  return {
    When: ({ at_ms }) => <Instant atMs={at_ms} />,
    Who: ({ who }) => <UntrustedText>{who}</UntrustedText>,
    What: ({ what }) => what,
    ...more,
    Change: ({ before, after }) => <UntrustedText>{inWords(parse(before), parse(after))}</UntrustedText>,
  };
}

const parse = (json: string | null): Fields => (json === null ? null : JSON.parse(json));

/** What changed, without the ids that mean nothing to a reader: a session is named as its owner reads it. */
function inWords(before: Fields, after: Fields): string {
  const isOne = before === null || after === null;
  const [had, has] = [named(before, isOne), named(after, isOne)];
  const sessions = [...new Map([...had.sessions, ...has.sessions])].map(([id, name]) =>
    had.sessions.has(id) && !has.sessions.has(id) ? `${name} → gone` : name,
  );
  const changes = describeChanges(had.rest, has.rest).replace(/T(\d\d:\d\d):[\d.]+Z/g, " $1 UTC");
  return [...sessions, changes].filter(Boolean).join(", ");
}

function named(fields: Fields, isOne: boolean): { sessions: Map<string, string>; rest: Fields } {
  const entries = Object.entries(fields ?? {});
  const isSession = ([name]: [string, unknown]) => name.startsWith("sess_");
  const sessions = entries.filter(isSession).map(([id, session]): [string, string] => {
    const { kind = "session", name = "" } = (session ?? {}) as { kind?: string; name?: string };
    return [id, name === "" ? kind : `${kind} “${name}”`];
  });
  const rest = entries
    .filter((entry) => !isSession(entry) && !(isOne && unsaid.has(entry[0])))
    .map(([name, value]) => {
      const isList = typeof value === "string" && value.startsWith("[");
      return [name, isList ? JSON.parse(value).join(", ") : value];
    });
  return { sessions: new Map(sessions), rest: fields && Object.fromEntries(rest) };
}

/** What says nothing to a reader of what was added or has gone. */
const unsaid = new Set(["id", "email", "subject", "created_at_ms", "held_thousandths"]);
