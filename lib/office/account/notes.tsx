import type { ReactNode } from "react";

type NotesProps<Row> = {
  title: string;
  rows: Row[];
  whenEmpty: string;
  children: (row: Row) => ReactNode;
};

const shownAtOnce = 5;

/** A short list of the narrow column, the rest of it behind a fold. */
export function Notes<Row>({ title, rows, whenEmpty, children }: NotesProps<Row>) {
  const more = rows.slice(shownAtOnce);
  return (
    <>
      <h2>{title}</h2>
      {rows.length === 0 && <p className="quiet">{whenEmpty}</p>}
      <List rows={rows.slice(0, shownAtOnce)}>{children}</List>
      {more.length > 0 && (
        <details className="more">
          <summary>{more.length} more</summary>
          <List rows={more}>{children}</List>
        </details>
      )}
    </>
  );
}

function List<Row>({ rows, children }: Pick<NotesProps<Row>, "rows" | "children">) {
  if (rows.length === 0) return null;
  return (
    <ul className="notes">
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a static page keep their places
        <li key={at}>{children(row)}</li>
      ))}
    </ul>
  );
}
