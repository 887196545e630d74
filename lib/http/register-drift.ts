import { mcpServer, operations } from "@/lib/http/operations";
import { routes, routesOfMany } from "@/lib/http/pages";

/** The contents of the build. */
export type Built = {
  /** Every route, by Next's name for it. */
  builtRoutes: readonly string[];
  /** The names of the files in `public/`. */
  files: readonly string[];
};

/** Compares the registers with the build. Returns a line for each address that only one of them has. */
export function findRegisterDrift({ builtRoutes, files }: Built): string[] {
  const built = [
    ...builtRoutes.filter((route) => !route.startsWith("/_")),
    ...files.map((file) => `/${file}`),
  ];
  const ofMany = new Set(Object.values(routesOfMany).flat());
  const entered = [
    ...Object.values(operations).map(({ path }): string => path),
    ...mcpServer.paths,
    ...routes.filter((route) => !ofMany.has(route)).map(({ path }) => path),
    ...Object.keys(routesOfMany),
  ];
  return [
    ...built
      .filter((path) => !entered.includes(path))
      .map((path) => `${path} is in the build, but not in a register`),
    ...entered
      .filter((path) => !built.includes(path))
      .map((path) => `${path} is in a register, but not in the build`),
  ];
}
