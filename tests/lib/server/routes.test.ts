import { describe, expect, it, vi } from "vitest";
import { mcpServer, operations } from "@/lib/http/operations";
import { previews, routes } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";
import { actsOf } from "@/lib/office/handler";
import { officePages } from "@/lib/office/routes";
import { routeHandler } from "@/lib/server/routes";

const every: Route[] = [
  ...Object.values(operations),
  ...mcpServer.paths.map((path) => ({ ...mcpServer, path })),
  ...routes,
];

it("every address in the registers has a handler in the server's process, previews aside", () => {
  for (const { path, methods } of every.filter((route) => route !== previews.emails)) {
    expect(routeHandler(path, methods[0] ?? ""), path).toBeTypeOf("function");
  }
});

const ours = "http://localhost:3000";

describe("every POST", () => {
  const posts = [...every, ...officePages.flatMap(actsOf).map(({ route }) => route)].filter(({ methods }) =>
    methods.some((method) => method === "POST"),
  );

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
      const response = await routeHandler(
        path,
        "POST",
      )?.(new Request(ours + path, { method: "POST", headers }));
      if (origin === "own") expect(response?.status, JSON.stringify(headers)).toBe(403);
      else expect(response?.status).not.toBe(200);
    }
    vi.unstubAllEnvs();
  });
});
