import { describe, expect, it } from "vitest";
import { mcpServer, operations } from "@/lib/api/operations";
import { clerkRoutes, documentPages, files, places, routesOfMany } from "@/lib/api/pages";
import { findDrift } from "@/lib/pages/register-check";

const ofMany = Object.values(documentPages).map(({ path }) => path as string);
const publicFiles = Object.values(files).map(({ path }) => path as string);
const routes = [
  ...Object.values(operations).map(({ path }) => path),
  ...mcpServer.paths,
  ...places.map(({ path }) => path),
  ...routesOfMany,
  ...Object.values(clerkRoutes),
  "/_not-found",
].filter((path) => ![...ofMany, ...publicFiles].includes(path) && !path.endsWith(".md"));
const built = { routes, files: publicFiles.map((path) => path.slice(1)) };

describe("findDrift", () => {
  it("finds nothing where the registers and the build agree", () => {
    expect(findDrift(built)).toEqual([]);
  });

  it.each([
    ["a page that is in no register", { routes: [...routes, "/new"] }, "/new is built, and in no register"],
    [
      "an operation that was not built",
      { routes: routes.filter((path) => path !== "/api/health") },
      "/api/health is in a register, and not built",
    ],
    [
      "a form that was not built",
      { routes: routes.filter((path) => path !== "/sign-in/send") },
      "/sign-in/send is in a register, and not built",
    ],
    ["a file that nobody entered", { files: [...built.files, "x.js"] }, "/x.js is built, and in no register"],
  ])("names %s", (_, change, fault) => {
    expect(findDrift({ ...built, ...change })).toEqual([fault]);
  });
});
