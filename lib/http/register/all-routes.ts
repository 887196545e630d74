import { files } from "@/lib/http/register/files";
import { forms } from "@/lib/http/register/forms";
import { hooks } from "@/lib/http/register/hooks";
import { mcpServer } from "@/lib/http/register/mcp";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { operations } from "@/lib/http/register/operations";
import { documentPages, pages } from "@/lib/http/register/pages";
import { previews, probes } from "@/lib/http/register/probes";
import { clientFiles, markdownForm, publications } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";

/** Every route outside `/api` and `/mcp`. */
export const routes: readonly Route[] = [
  ...[pages, forms, connectEndpoints, hooks, probes, previews, files, publications, clientFiles].flatMap(
    (table) => Object.values<Route>(table),
  ),
  ...Object.values(documentPages).map(markdownForm),
];

/** Every route of the public site, by its exact path, and also by that with a slash where it takes one. */
export const allRoutes: ReadonlyMap<string, Route> = new Map(
  [
    ...Object.values<Route>(operations),
    ...mcpServer.paths.map((path): Route => ({ ...mcpServer, path })),
    ...routes,
  ].flatMap((route): [string, Route][] => [
    [route.path, route],
    ...(route.takesSlash ? [[`${route.path}/`, route] as [string, Route]] : []),
  ]),
);
