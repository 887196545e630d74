import type { Route } from "@/lib/http/route";

const hook = {
  methods: ["POST"],
  site: "api",
  origin: "any",
  limit: "webhooks",
  takes: "webhook",
  credential: "signature",
} as const;

/** Webhooks of our providers. */
export const hooks = {
  clerk: { path: "/hooks/clerk", ...hook },
  resend: { path: "/hooks/resend", ...hook },
  stripe: { path: "/hooks/stripe", ...hook, needsBilling: true },
} as const satisfies Record<string, Route>;
