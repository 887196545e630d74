import { settings } from "@/lib/config/settings";
import type { PublicErrorCode } from "@/lib/http/errors";
import { documentPages, pages, publications } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";

const pathsOf = <Table extends Record<string, { path: string }>>(table: Table) =>
  Object.fromEntries(Object.entries(table).map(([name, { path }]) => [name, path])) as {
    [Name in keyof Table]: Table[Name]["path"];
  };

/** Where the words of the documents lead, by its name in the registers. */
export const to = pathsOf({ ...documentPages, ...publications, changes: pages.changes });

/** A link to what is said of an error code. */
export function toCode(code: PublicErrorCode): string {
  return `[\`${code}\`](${to.errors}#${code})`;
}

/** A link to what is there for who can sign in; where nobody can it is its address alone. */
export function linkToPage({ path }: Pick<Route, "path">): string {
  return settings().signIn.kind === "none" ? `\`${path}\`` : `[${path}](${path})`;
}
