import { accountIdOf } from "@/lib/accounts/accounts";
import { describeChanges, findEmails } from "@/lib/accounts/audit-trail";
import { dayMs } from "@/lib/config/durations";
import { auditEntries } from "@/lib/db/audit";
import { readTogether } from "@/lib/db/read-together";
import { hashEmail } from "@/lib/mail/suppressions";
import { addressOf, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Instant, Person, Table, Their } from "@/lib/office/parts";

export const audit: OfficePage = { path: "/audit", name: "Audit", show };

const perPage = 50;

/** The audit: by operator or other actor, person, act and day. Each page is a link. */
async function show({ db, nowMs, input }: OfficeCall) {
  const filter = {
    who: input("who"),
    whom: input("whom")?.toLowerCase(),
    what: input("what"),
    day: input("day"),
  };
  const dayStartMs = Date.parse(`${filter.day}T00:00Z`);
  const day = Number.isNaN(dayStartMs) ? {} : { sinceMs: dayStartMs, untilMs: dayStartMs + dayMs };
  const [, atMs, id = ""] = /^(\d{1,15}) ([\w-]+)$/.exec(input("after") ?? "") ?? [];
  const query = auditEntries(db, {
    who: filter.who || undefined,
    what: filter.what || undefined,
    ...day,
    after: atMs ? { at_ms: Number(atMs), id } : undefined,
  }).limit(perPage + 1);
  // One query for each name that the audit may use of a person, so that each is read by the index.
  const found = filter.whom
    ? await readTogether(db, {
        byEmail: query.where("whom", "=", filter.whom),
        byHash: query.where("whom", "=", hashEmail(filter.whom)),
        byId: query.where("whom", "=", accountIdOf(db, filter.whom)),
      })
    : { all: await query.execute() };
  const rows = Object.values(found)
    .flat()
    .sort((one, other) => other.at_ms - one.at_ms || (other.id > one.id ? 1 : -1));
  const shown = rows.slice(0, perPage);
  const last = shown.at(-1);
  const emails = await findEmails(db, shown);
  return {
    title: "Audit",
    content: (
      <>
        <h1>Audit</h1>
        <form action={audit.path} className="filter">
          {fields.map(({ name, label, ...others }) => (
            <label key={name}>
              {label}
              <input
                name={name}
                autoComplete="off"
                spellCheck={false}
                defaultValue={filter[name]}
                {...others}
              />
            </label>
          ))}
          <button type="submit">Find</button>
        </form>
        <Table
          columns={["When", "Who", "What", "Whom", "Change"]}
          rows={shown.map((entry) => {
            const whom = emails.get(entry.whom ?? "") ?? entry.whom;
            return {
              key: entry.id,
              cells: [
                <Instant key="at" atMs={entry.at_ms} nowMs={nowMs} />,
                <Their key="who">{entry.who}</Their>,
                entry.what,
                whom?.includes("@") ? <Person key="whom" email={whom} /> : <Their key="whom">{whom}</Their>,
                <Their key="change">{describeChanges(parse(entry.before), parse(entry.after))}</Their>,
              ],
            };
          })}
          whenEmpty="No entry matches."
        />
        {rows.length > perPage && last && (
          <p className="actions">
            <a
              className="button plain"
              href={addressOf(audit, { ...filter, after: `${last.at_ms} ${last.id}` })}
            >
              Older
            </a>
          </p>
        )}
      </>
    ),
  };
}

const fields = [
  { name: "who", label: "Who", placeholder: "operator ann" },
  { name: "whom", label: "Whom", placeholder: "ceo@example.com" },
  { name: "what", label: "What", placeholder: "account set" },
  { name: "day", label: "Day", type: "date" },
] as const;

const parse = (json: string | null) => (json === null ? null : JSON.parse(json));
