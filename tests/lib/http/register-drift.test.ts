import { describe, expect, it } from "vitest";
import { mcpServer, operations } from "@/lib/http/operations";
import { files, routes, routesOfMany } from "@/lib/http/pages";
import { findRegisterDrift } from "@/lib/http/register-drift";

const ofMany = Object.values(routesOfMany)
  .flat()
  .map(({ path }): string => path);
const publicFiles = Object.values(files).map(({ path }) => path as string);
const builtRoutes = [
  ...Object.values(operations).map(({ path }) => path),
  ...mcpServer.paths,
  ...routes.map(({ path }) => path),
  ...Object.keys(routesOfMany),
  "/_not-found",
].filter((path) => ![...ofMany, ...publicFiles].includes(path));
const built = { builtRoutes, files: publicFiles.map((path) => path.slice(1)) };

describe("findRegisterDrift", () => {
  it("finds nothing where the registers and the build agree", () => {
    expect(findRegisterDrift(built)).toEqual([]);
  });

  it.each([
    [
      "a page that is in no register",
      { builtRoutes: [...builtRoutes, "/new"] },
      "/new is in the build, but not in a register",
    ],
    [
      "an operation that was not built",
      { builtRoutes: builtRoutes.filter((path) => path !== "/api/health") },
      "/api/health is in a register, but not in the build",
    ],
    [
      "a form that was not built",
      { builtRoutes: builtRoutes.filter((path) => path !== "/waitlist/join") },
      "/waitlist/join is in a register, but not in the build",
    ],
    [
      "a file that is not in a register",
      { files: [...built.files, "x.js"] },
      "/x.js is in the build, but not in a register",
    ],
  ])("names %s", (_, change, fault) => {
    expect(findRegisterDrift({ ...built, ...change })).toEqual([fault]);
  });
});
