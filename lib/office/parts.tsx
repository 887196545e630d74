import type { ReactNode } from "react";
import { Light } from "@/app/(pages)/status-light";
import type { Account } from "@/lib/accounts/account";
import { currentLicence, type Licence } from "@/lib/accounts/licence-state";
import { describeStanding, type Standing } from "@/lib/accounts/standing";
import { describeDistance } from "@/lib/config/instants";
import { accountAddress, type OfficeCall } from "@/lib/office/page";

/** A value that a stranger chose: its direction of writing does not reorder what is next to it. */
export function UntrustedText({ children }: { children: string | null | undefined }) {
  return <bdi>{children ?? "–"}</bdi>;
}

/** A link to the page of an account, or of an email without one. */
export function Person({ email }: { email: string }) {
  return (
    <a href={accountAddress(email)}>
      <UntrustedText>{email}</UntrustedText>
    </a>
  );
}

/** A time in UTC to the minute, with its distance from now. */
export function Instant({ atMs, nowMs }: { atMs: number | null | undefined; nowMs: number }) {
  if (atMs == null) return <>–</>;
  const iso = new Date(atMs).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}{" "}
      <span className="quiet">{describeDistance(atMs, nowMs)}</span>
    </time>
  );
}

/** A link on a line of its own that looks like a button. */
export function LinkButton({ href, children }: { href: string; children: ReactNode }) {
  return (
    <p className="actions">
      <a className="button plain" href={href}>
        {children}
      </a>
    </p>
  );
}

/** Whether a mail was delivered, as it is recorded. */
export function MailState({ state }: { state: string }) {
  const colour = { sent: "good", failed: "stopped", retrying: "soon" } as const;
  return <Light colour={colour[state as keyof typeof colour] ?? "unknown"}>{state}</Light>;
}

/** Why an act was refused, or what it did. */
export function FormResult({ call, done }: { call: OfficeCall; done: Record<string, string> }) {
  if (call.problem) {
    return (
      <div className="problem" role="alert">
        <p>{call.problem.message}</p>
        <p>{call.problem.hint}</p>
      </div>
    );
  }
  const name = call.input("done") ?? "";
  return Object.hasOwn(done, name) ? (
    <p role="status" className="done">
      {done[name]}
    </p>
  ) : null;
}

/** The heading of a column, and what it shows of a row. */
export type Column<Row> = [heading: string, show: (row: Row) => ReactNode];

type TableProps<Row> = { rows: Row[]; columns: Column<Row>[]; whenEmpty?: string; caption?: string };

/** A table. Its rows are read as cards on a narrow screen. */
export function Table<Row>({ rows, columns, whenEmpty, caption }: TableProps<Row>) {
  if (rows.length === 0) return <p className="quiet">{whenEmpty}</p>;
  return (
    <table className="rows">
      {caption && <caption>{caption}</caption>}
      <thead>
        <tr>
          {columns.map(([heading]) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a static page keep their places
          <tr key={at}>
            {columns.map(([heading, show]) => (
              <td key={heading} data-column={heading}>
                {show(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many rows a page of a long table shows. One more is read, to know whether there is another page. */
export const perPage = 50;

type LongTableProps<Row> = TableProps<Row> & { hrefAfter: (last: Row) => string; next?: string };

/** A page of a table, with a link to the page after its last row if there is one. */
export function LongTable<Row>({ rows, hrefAfter, next = `Next ${perPage}`, ...table }: LongTableProps<Row>) {
  const last = rows[perPage - 1];
  return (
    <>
      <Table rows={rows.slice(0, perPage)} {...table} />
      {rows.length > perPage && last && <LinkButton href={hrefAfter(last)}>{next}</LinkButton>}
    </>
  );
}

/** The state that the owner of an account reads on `/home`. */
export function standingOf(account: Account | undefined, nowMs: number, licences: Licence[] = []): Standing {
  const caller = account ? ({ is: "account", account } as const) : ({ is: "unreadable" } as const);
  return describeStanding(caller, nowMs, currentLicence(licences));
}

/** When an account's trial ends, in Unix milliseconds; `null` if it is on no trial. */
export const trialEndOf = (account: Account) => ("trialEndsAtMs" in account ? account.trialEndsAtMs : null);
