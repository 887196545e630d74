import { type Route, read } from "@/lib/http/route";

const hook = {
  methods: ["POST"],
  site: "api",
  origin: "any",
  limit: "webhooks",
  takes: "webhook",
  credential: "signature",
} as const;

/** Webhooks of our providers, and what the scheduler of a platform calls. */
export const hooks = {
  clerk: { path: "/hooks/clerk", ...hook },
  resend: { path: "/hooks/resend", ...hook },
  stripe: { path: "/hooks/stripe", ...hook, needsBilling: true },
  cron: {
    path: "/hooks/cron",
    methods: read,
    site: "api",
    onlyWithScheduler: true,
    limit: "webhooks",
    credential: "scheduler",
  },
} as const satisfies Record<string, Route>;
