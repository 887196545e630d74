import { expect, it } from "vitest";
import { files, publications, routes } from "@/lib/http/pages";
import { pageHandler, routeHandler } from "@/lib/server/routes";

it("every address in the register has a handler in the server's process, files and previews aside", () => {
  const others = new Set<string>(
    [publications.emailPreviews, ...Object.values(files)].map(({ path }) => path),
  );
  for (const { path, methods } of routes.filter(({ path }) => !others.has(path))) {
    expect(routeHandler(path, methods[0] ?? "") ?? pageHandler(path), path).toBeTypeOf("function");
  }
});
