import { Light } from "@/app/(pages)/status-light";
import type { AccountState } from "@/lib/accounts/accounts";
import { licensedTag } from "@/lib/plans/entitlement-words";
import type { Standing } from "@/lib/plans/standing";

/** The states of accounts, as filters, rows and the account's own page call them. */
export const stateWords: Readonly<Record<AccountState, string>> = {
  licensed: "Licensed",
  trial: "Trial",
  "trial-ended": "Stopped",
  hobby: "Hobby",
};

type StateProps = { standing: Pick<Standing, "light" | "tag">; groups: readonly string[] };

/** The state of an account, and the filters that find it under another word. */
export function State({ standing: { light, tag }, groups }: StateProps) {
  const [colour, label] = light;
  const word = tag === licensedTag && colour !== "good" ? label : tag;
  const others = groups.filter((group) => group !== word);
  return (
    <>
      <Light colour={colour}>{word}</Light>
      {others.map((group) => (
        <span key={group} className="tag">
          {group}
        </span>
      ))}
    </>
  );
}

/** The state of an account's own filter. */
export const groupsOf = ({ status }: Pick<Standing, "status">): string[] =>
  Object.hasOwn(stateWords, status) ? [stateWords[status as AccountState]] : [];
