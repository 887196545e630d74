import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { handlerAt } from "@/app/routes";
import type { RouteHandler } from "@/lib/http/handler";
import type { PlatformHandler } from "@/lib/http/platform";
import { allRoutes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import type { Route } from "@/lib/http/route";

/* Next answers an address by the `route.ts` of its folder, and our own server by the register and `app/routes.ts`. */

/** A `route.ts`, and the addresses of its folder as Next reads them. */
const folders = readdirSync("app", { recursive: true, encoding: "utf8" })
  .filter((name) => /(^|\/)route\.tsx?$/.test(name))
  .map((name) => {
    const segments = name
      .split("/")
      .slice(0, -1)
      .filter((segment) => !segment.startsWith("("));
    const pattern = segments.map((segment) => {
      if (segment.startsWith("[[...")) return "(/.+)?";
      if (segment.startsWith("[...")) return "/.+";
      return segment.startsWith("[") ? "/[^/]+" : `/${RegExp.escape(segment)}`;
    });
    return { name, isDynamic: name.includes("["), matches: new RegExp(`^${pattern.join("") || "/"}$`) };
  })
  // A folder with a name wins over one with a dynamic segment, and a longer path over a shorter.
  .sort(
    (one, other) => Number(one.isDynamic) - Number(other.isDynamic) || other.name.length - one.name.length,
  );
const [none] = folders.filter(({ name }) => name === "[...path]/route.ts");

/** Next itself answers the files of `public/`. */
const inPublic = new Set<string>(Object.values(files).map(({ path }) => path));
const routes = [...new Set(allRoutes.values())].filter(({ path }) => !inPublic.has(path));
const folderOf = ({ path }: Route) => folders.find(({ matches }) => matches.test(path));

/** The methods of a route file; what else it exports are settings of Next's. */
const exportsOf = async (name: string): Promise<Record<string, PlatformHandler<RouteHandler>>> => {
  const exported = await import(/* @vite-ignore */ resolve("app", name));
  return Object.fromEntries(Object.entries(exported).filter(([key]) => key === key.toUpperCase())) as never;
};

describe.each(folders.filter((folder) => folder !== none))("app/$name", (folder) => {
  const answered = routes.filter((route) => folderOf(route) === folder);

  it("answers at least one address of the register", () => {
    expect(answered).not.toEqual([]);
  });

  it("exports the methods of its addresses", async () => {
    // Next answers HEAD by GET where no one exports it.
    const exported = Object.keys(await exportsOf(folder.name)).flatMap((method) =>
      method === "GET" ? ["GET", "HEAD"] : method,
    );
    expect(new Set(exported)).toEqual(new Set(answered.flatMap(({ methods }) => methods)));
  });

  it.each(answered)("answers $path by the handler that our own server calls", async (route) => {
    const { path, methods, onlyInDevelopment } = route;
    if (onlyInDevelopment) return;
    const [answer] = Object.values(await exportsOf(folder.name));
    if (answer?.answer === handlerAt(path)) return;
    // One of many in a folder with a dynamic segment: a path that its table lacks would get the page of the 404.
    vi.stubEnv("SIGN_IN", "local");
    const response = await answer?.(
      new Request(`http://localhost:3000${path}`, { method: methods[0] ?? "" }),
    );
    vi.unstubAllEnvs();
    expect([response?.status, response?.headers.get("content-type")]).not.toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
  });
});

it("every address of the register has its folder, and no other is left to the 404", () => {
  expect(
    routes.filter((route) => [none, undefined].includes(folderOf(route))).map(({ path }) => path),
  ).toEqual([]);
});
