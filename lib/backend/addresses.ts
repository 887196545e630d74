import type { Permission } from "@/lib/backend/backends";
import { maxWritesAtOnce } from "@/lib/config/limits";
import { type Route, read } from "@/lib/http/route";

/**
 * An address of the backend API, whose path may have parts in braces, what a backend must be allowed to do there, and what
 * it does.
 */
export type BackendRoute = Route & { needs: Permission; summary: string };

const ofBackends = { site: "backend", credential: "backend", limit: "backends" } as const;
const reads = { ...ofBackends, methods: read, needs: "read" } as const;
const writes = { ...ofBackends, methods: ["POST"], origin: "any", takes: "write", needs: "spend" } as const;

/** The register of the backend API. */
export const backendRoutes = {
  accounts: {
    ...reads,
    path: "/v1/accounts",
    summary: "Lists accounts in the order of their ids, or finds the one with an `email` or a `reference`.",
  },
  account: { ...reads, path: "/v1/accounts/{id}", summary: "Reads an account." },
  accountEntries: {
    ...reads,
    path: "/v1/accounts/{id}/entries",
    summary: "Lists the ledger of an account, oldest first.",
  },
  entries: {
    ...reads,
    path: "/v1/entries",
    summary: "Lists the ledgers of all accounts, each entry once.",
  },
  events: {
    ...reads,
    path: "/v1/events",
    summary: "Lists what happened, oldest first: see [Events](#events).",
  },
  plans: {
    ...reads,
    path: "/v1/plans",
    summary:
      "Lists what each plan contains, from the least to the most, also those that are not offered any more: an account names its plan.",
  },
  /** A check that neither spends nor holds needs `read` alone. */
  checks: {
    ...writes,
    path: "/v1/checks",
    needs: "read",
    summary:
      "Says whether the owner of a session token may run, and spends or holds if they may, in one transaction: whatever ends the session, the trial or the licence comes before it or after it.",
  },
  spends: { ...writes, path: "/v1/accounts/{id}/spends", summary: "Spends credits." },
  holds: {
    ...writes,
    path: "/v1/accounts/{id}/holds",
    summary: "Holds credits until they are settled or released, or expire.",
  },
  reference: {
    ...writes,
    path: "/v1/accounts/{id}/reference",
    summary:
      "Sets your own name for an account, which no other has; `null` takes it away. An operator does the same by `account set <email> --reference`.",
  },
  settle: {
    ...writes,
    path: "/v1/holds/{id}/settle",
    summary:
      "Spends what was held: all of it, less, and the rest can be spent again at once, or more, which has to be there: the `balance` of a refusal counts what it holds.",
  },
  release: { ...writes, path: "/v1/holds/{id}/release", summary: "Gives back what was held." },
  reverse: { ...writes, path: "/v1/entries/{id}/reverse", summary: "Gives back a spend, or a part of it." },
  batches: {
    ...writes,
    path: "/v1/batches",
    takes: "batch",
    summary: `Spends up to ${maxWritesAtOnce} times: each for itself, with its refusal in its place, or with \`"all": true\` all or nothing. A spend that is not as it must be refuses all.`,
  },
} as const satisfies Record<string, BackendRoute>;

export type BackendName = keyof typeof backendRoutes;

const open = { site: "backend", limit: "backends", methods: read } as const;

/** The version of the client files for backends, in their first line and their address. A changed file needs another. */
export const clientVersion = "1.4.0";

const clientFile = { ...open, caching: "public, max-age=31536000" } as const;

/** The client files for backends. */
export const clientRoutes = {
  typescript: { ...clientFile, path: `/docs/${clientVersion}/corner-office-backend.ts` },
  python: { ...clientFile, path: `/docs/${clientVersion}/corner_office_backend.py` },
} as const satisfies Record<string, Route>;

/** What anyone who reaches the port may read: its document, its description, and the client files. */
export const openRoutes = {
  docs: { ...open, path: "/docs" },
  openapi: { ...open, path: "/openapi.json" },
  ...clientRoutes,
} as const satisfies Record<string, Route>;

/** What is not there, whatever the method. No body is read for it. */
export const nothingHere: Route = { ...open, path: "/*" };

const idPattern = /^[\w.~-]{1,200}$/;

/** The routes by their paths with `{id}` in place of an id, which is always the third part. */
const byPath = new Map<string, Route>(
  [...Object.values(backendRoutes), ...Object.values(openRoutes)].map((route) => [route.path, route]),
);

/** The route at a path, and the id in the path: empty where the route has none. */
export function findBackendRoute(path: string): { route: Route; id: string } | undefined {
  const [before, version, noun, id = "", ...rest] = path.split("/", 6);
  const withId = idPattern.test(id)
    ? byPath.get([before, version, noun, "{id}", ...rest].join("/"))
    : undefined;
  const route = withId ?? byPath.get(path);
  return route && { route, id };
}
