import { type Route, read } from "@/lib/http/route";

/** For load balancers. */
export const probes = { ready: { path: "/ready", methods: read } } as const satisfies Record<string, Route>;

/** For developers. */
export const previews = {
  emails: { path: "/previews/emails", methods: read, onlyInDevelopment: true },
} as const satisfies Record<string, Route>;
