import { addressOf, type OfficePage } from "@/lib/office/page";

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
