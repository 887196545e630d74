import { describe, expect, it } from "vitest";
import { files, publications, routes } from "@/lib/http/pages";
import { sharedHandler } from "@/lib/server/routes";

describe("an address whose response is the same for everyone", () => {
  const elsewhere = new Set<string>([
    publications.jwks.path,
    ...Object.values(files).map(({ path }) => path),
  ]);
  const shared = routes.filter(
    ({ path, isShared, isSharedWithoutCookies }) =>
      (isShared || isSharedWithoutCookies) && !elsewhere.has(path),
  );

  it.each(shared.map(({ path }) => path))("%s has a handler in the server's process", (path) => {
    expect(sharedHandler(path)).toBeTypeOf("function");
  });
});
