import type { ReactNode } from "react";
import { ButtonLink } from "@/app/(pages)/button-link";
import { None } from "@/lib/office/values";

/** The columns of a table: what each shows of a row, by its heading. */
export type Columns<Row> = Record<string, (row: Row) => ReactNode>;

type TableProps<Row> = {
  rows: Row[];
  columns: Columns<Row>;
  whenEmpty?: string;
  caption?: string;
  /** How many rows were read at the most: a table of so many says it, because there may be more. */
  most?: number;
};

/** A table. Its rows are read as cards on a narrow screen. */
export function Table<Row>({ rows, columns, whenEmpty, caption, most }: TableProps<Row>) {
  if (rows.length === 0) return <p className="quiet">{whenEmpty}</p>;
  const table = (
    <table>
      {caption && <caption>{caption}</caption>}
      <thead>
        <tr>
          {Object.keys(columns).map((heading) => (
            <th key={heading} scope="col" data-column={heading}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a static page keep their places
          <tr key={at}>
            {Object.entries(columns).map(([heading, show]) => (
              <td key={heading} data-column={heading}>
                {orNone(show(row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (rows.length !== most) return table;
  return (
    <>
      {table}
      <p className="quiet">At most {most} are shown here.</p>
    </>
  );
}

const orNone = (shown: ReactNode) => (shown === "–" ? <None /> : shown);

/** How many rows a page of a long table shows. One more is read, to know whether there is another page. */
export const perPage = 50;

type LongTableProps<Row> = TableProps<Row> & { hrefAfter: (last: Row) => string; next?: string };

/** A page of a table, with a link to the page after its last row if there is one. */
export function LongTable<Row>({ rows, hrefAfter, next = `Next ${perPage}`, ...table }: LongTableProps<Row>) {
  const shown = rows.slice(0, perPage);
  const last = shown.at(-1);
  return (
    <>
      <Table rows={shown} {...table} />
      {shown.length < rows.length && last && (
        <ButtonLink to={hrefAfter(last)} isPlain>
          {next}
        </ButtonLink>
      )}
    </>
  );
}
