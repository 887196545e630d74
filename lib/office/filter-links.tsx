import { addressOf, type OfficePage } from "@/lib/office/page";
import { perPage } from "@/lib/office/table";

type FilterLinksProps = {
  of: OfficePage["path"];
  /** What is filtered, as the parameter and as a word. */
  name: string;
  words: string;
  options: Readonly<Record<string, string>>;
  /** The other parameters, which stay. */
  kept: Record<string, string | undefined>;
  current: string | undefined;
};

/** Links to parts of a list; with an empty value to all of it. */
export function FilterLinks({ of, name, words, options, kept, current = "" }: FilterLinksProps) {
  return (
    <nav className="filters" aria-label={words}>
      <b>{words}</b>
      {Object.entries(options).map(([value, label]) => (
        <a
          key={value}
          href={addressOf(of, { ...kept, [name]: value })}
          aria-current={current === value ? "true" : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

type MatchesProps = {
  of: OfficePage["path"];
  /** What is filtered by. */
  by: Readonly<Record<string, string | undefined>>;
  /** What is listed, as one and as several. */
  nouns: readonly [one: string, several: string];
  /** How many are on this page and the next one; nothing of what is not the first page. */
  count: number | undefined;
};

/** How many a filter leaves, and the way back to all. */
export function Matches({ of, by, nouns: [one, several], count = 0 }: MatchesProps) {
  if (!Object.values(by).some(Boolean)) return null;
  const found =
    count > perPage ? `More than ${perPage} ${several}.` : `${count} ${count === 1 ? one : several}.`;
  return (
    <p className="quiet">
      {count > 0 && found} <a href={of}>Clear</a>
    </p>
  );
}
