import { mcpServer, operations } from "@/lib/api/operations";
import { type Page, pages, places, routesOfMany } from "@/lib/api/pages";

/** What the framework has built. */
export type Built = {
  /** Every route, by the name that the framework gives it. */
  routes: readonly string[];
  /** The paths whose answers the build has made. */
  made: readonly string[];
  /** The names of the files in `public/`. */
  files: readonly string[];
};

/**
 * Holds the registers against what was built: one readable line for each address that only one of them knows,
 * and for each page that is not made when its entry says.
 */
export function findDrift({ routes, made, files }: Built): string[] {
  const isOurs = (path: string) => !path.startsWith("/_");
  const built = [...routes, ...made, ...files.map((file) => `/${file}`)].filter(isOurs);
  const entered = [
    ...Object.values(operations).map(({ path }) => path),
    ...mcpServer.paths,
    ...places.filter(({ path }) => !path.endsWith(".md")).map(({ path }) => path),
    ...routesOfMany,
  ] as readonly string[];
  const madeAtBuild = Object.values<Page>(pages).filter((page) => page.made === "at build");
  return [
    ...missing(built, entered, "is built, and in no register"),
    ...missing(entered, built, "is in a register, and not built"),
    ...missing(made.filter(isOurs), paths(madeAtBuild), "is made at build, and its entry says otherwise"),
    ...missing(paths(madeAtBuild), made, "is to be made at build, and was not"),
  ];
}

const paths = (some: readonly Page[]): string[] => some.map(({ path }) => path);

function missing(these: readonly string[], among: readonly string[], fault: string): string[] {
  return [...new Set(these)].filter((path) => !among.includes(path)).map((path) => `${path} ${fault}`);
}
