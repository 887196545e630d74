import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { handlerAt } from "@/app/routes";
import { routes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { previews } from "@/lib/http/register/probes";
import type { Route } from "@/lib/http/route";
import { officePages } from "@/lib/office/routes";

const every: Route[] = [
  ...Object.values(operations),
  ...mcpServer.paths.map((path) => ({ ...mcpServer, path })),
  ...routes,
];

it("every address in the registers has a handler in the server's process, previews aside", () => {
  for (const { path } of every.filter((route) => route !== previews.emails)) {
    expect(handlerAt(path), path).toBeTypeOf("function");
  }
});

it("the files of the register are those in public/", () => {
  const registered = Object.values(files).map(({ path }) => path.slice(1));
  expect(readdirSync("public").sort()).toEqual(registered.sort());
});

const ours = "http://localhost:3000";

describe("every POST", () => {
  const posts = [...every, ...officePages.flatMap(({ acts = [] }) => acts)].filter(({ methods }) =>
    methods.some((method) => method === "POST"),
  );

  it("of a page is taken from our own pages alone", () => {
    const ofPages = posts.filter(({ page, origin }) => page !== undefined && origin !== "own");
    expect(ofPages.map(({ path }) => path)).toEqual([]);
  });

  it.each(posts)("has a limit and an origin rule: $path", async ({ path, limit, quota, origin, site }) => {
    expect(limit ?? quota, "a limit").toBeDefined();
    expect(origin, "an origin rule").toBeDefined();
    if (site === "office") return;
    // Of another site, or of none: the handler refuses it, or does not care whose page it is.
    vi.stubEnv("SIGN_IN", "local");
    for (const headers of [
      {},
      ...["https://evil.example", "null", `${ours}.evil.example`, ours.replace("http", "https"), ""].map(
        (origin) => ({ origin }),
      ),
    ]) {
      const response = await handlerAt(path).POST(new Request(ours + path, { method: "POST", headers }));
      if (origin === "own") expect(response.status, JSON.stringify(headers)).toBe(403);
      else expect(response.status).not.toBe(200);
    }
    vi.unstubAllEnvs();
  });
});
