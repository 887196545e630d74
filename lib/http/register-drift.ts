import { mcpServer, operations } from "@/lib/http/operations";
import { clerkRoutes, documentPages, routes, routesOfMany } from "@/lib/http/pages";

/** What the framework has built. */
export type Built = {
  /** Every route, by the name that the framework gives it. */
  builtRoutes: readonly string[];
  /** The names of the files in `public/`. */
  files: readonly string[];
};

/** Holds the registers against what was built: one readable line for each address that only one of them knows. */
export function findRegisterDrift({ builtRoutes, files }: Built): string[] {
  const built = [
    ...builtRoutes.filter((route) => !route.startsWith("/_")),
    ...files.map((file) => `/${file}`),
  ];
  const ofMany = Object.values(documentPages).map(({ path }): string => path);
  const entered = [
    ...Object.values(operations).map(({ path }): string => path),
    ...mcpServer.paths,
    ...routes.map(({ path }) => path).filter((path) => !ofMany.includes(path.replace(/\.md$/, ""))),
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
