import { mcpServer, operations } from "@/lib/api/operations";
import { clerkRoutes, documentPages, places, routesOfMany } from "@/lib/api/pages";

/** What the framework has built. */
export type Built = {
  /** Every route, by the name that the framework gives it. */
  routes: readonly string[];
  /** The names of the files in `public/`. */
  files: readonly string[];
};

/** Holds the registers against what was built: one readable line for each address that only one of them knows. */
export function findDrift({ routes, files }: Built): string[] {
  const built = [...routes.filter((route) => !route.startsWith("/_")), ...files.map((file) => `/${file}`)];
  const ofMany = Object.values(documentPages).map(({ path }): string => path);
  const entered = [
    ...Object.values(operations).map(({ path }): string => path),
    ...mcpServer.paths,
    ...places.map(({ path }) => path).filter((path) => !ofMany.includes(path.replace(/\.md$/, ""))),
    ...routesOfMany,
    ...Object.values(clerkRoutes),
  ];
  return [
    ...built.filter((path) => !entered.includes(path)).map((path) => `${path} is built, and in no register`),
    ...entered
      .filter((path) => !built.includes(path))
      .map((path) => `${path} is in a register, and not built`),
  ];
}
