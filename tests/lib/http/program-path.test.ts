import { expect, it } from "vitest";
import { isProgramPath, isUnderApi } from "@/lib/http/program-path";

it.each([
  "/api/x",
  "/API",
  "//api",
  "\\api/x",
  "/%61pi/x",
  "/%2561pi",
  "/x/../api",
  "/./mcp",
  "/mcp?a",
  "/mcp#a",
])("%s is under the API or the MCP server, and so for programs", (path) => {
  expect([isUnderApi(path), isProgramPath(path)]).toEqual([true, true]);
});

it.each(["/", "/apis", "/api-x", "/docs/api", "/mcpx", "/home"])("%s is for people", (path) => {
  expect([isUnderApi(path), isProgramPath(path)]).toEqual([false, false]);
});

it.each(["/register", "/.well-known/x", "/oauth/token"])("%s is for programs beside them", (path) => {
  expect([isUnderApi(path), isProgramPath(path)]).toEqual([false, true]);
});
