/** The answer of a health check: the service is up, and assistants run in the person's own apps. */
export const health = {
  ok: true,
  service: "corner-office-web",
  surface: "web",
  agent: "not-hosted",
} as const;
