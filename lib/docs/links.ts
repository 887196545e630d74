import { settings } from "@/lib/config/settings";
import type { PublicErrorCode } from "@/lib/http/errors";
import { documentPages, pages, publications } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";

const pathsOf = <Table extends Record<string, { path: string }>>(table: Table) =>
  Object.fromEntries(Object.entries(table).map(([name, { path }]) => [name, path])) as {
    [Name in keyof Table]: Table[Name]["path"];
  };

/** The link targets of the documents, by their names in the registers. */
export const to = pathsOf({ ...documentPages, ...publications, changes: pages.changes });

/** A link to the section about an error code. */
export function toCode(code: PublicErrorCode): string {
  return `[\`${code}\`](${to.errors}#${code})`;
}

/** A link to a page that needs sign-in; only its path if this deployment has no sign-in. */
export function linkToPage({ path }: Pick<Route, "path">): string {
  return settings().signIn.kind === "none" ? `\`${path}\`` : `[${path}](${path})`;
}
