import type { Permission } from "@/lib/backend/backends";
import { type Method, type Route, read } from "@/lib/http/route";

/** An address of the backend API, whose path may have parts in braces, and what a backend must be allowed to do there. */
export type BackendRoute = Route & { needs: Permission };

const ofBackends = { site: "backend", credential: "backend", limit: "backends" } as const;
const reads = { ...ofBackends, methods: read, needs: "read" } as const;
const writes = { ...ofBackends, methods: ["POST"], origin: "any", takes: "write", needs: "spend" } as const;

/** The register of the backend API. */
export const backendRoutes = {
  accounts: { ...reads, path: "/v1/accounts" },
  account: { ...reads, path: "/v1/accounts/{id}" },
  accountEntries: { ...reads, path: "/v1/accounts/{id}/entries" },
  entries: { ...reads, path: "/v1/entries" },
  events: { ...reads, path: "/v1/events" },
  /** A check that neither spends nor holds needs `read` alone. */
  checks: { ...writes, path: "/v1/checks", needs: "read" },
  spends: { ...writes, path: "/v1/accounts/{id}/spends" },
  holds: { ...writes, path: "/v1/accounts/{id}/holds" },
  reference: { ...writes, path: "/v1/accounts/{id}/reference" },
  settle: { ...writes, path: "/v1/holds/{id}/settle" },
  release: { ...writes, path: "/v1/holds/{id}/release" },
  reverse: { ...writes, path: "/v1/entries/{id}/reverse" },
  batches: { ...writes, path: "/v1/batches", takes: "batch" },
} as const satisfies Record<string, BackendRoute>;

export type BackendName = keyof typeof backendRoutes;

const open = { site: "backend", limit: "backends", methods: read } as const;

/** What anyone who reaches the port may read: its document, and its description. */
export const openRoutes = {
  docs: { ...open, path: "/docs" },
  openapi: { ...open, path: "/openapi.json" },
} as const satisfies Record<string, Route>;

/** What is not there, whatever the method. */
export const nothingHere = (methods: readonly string[]): Route => ({
  site: "backend",
  path: "/*",
  methods: methods as Method[],
  origin: "any",
  limit: "backends",
});

/** An id in a path. */
const idPattern = /^[\w.~-]{1,200}$/;

/** The routes by their paths with `{id}` in place of an id, which is always the third part. */
const byPath = new Map<string, Route>(
  [...Object.values(backendRoutes), ...Object.values(openRoutes)].map((route) => [route.path, route]),
);

/** The route at a path, and the id in the path: empty where the route has none. */
export function findBackendRoute(path: string): { route: Route; id: string } | undefined {
  const [before, version, noun, id = "", ...rest] = path.split("/", 6);
  const route = byPath.get(idPattern.test(id) ? [before, version, noun, "{id}", ...rest].join("/") : path);
  return route && { route, id };
}
