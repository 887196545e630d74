/** The changes of the API, newest first: the release date, the new `info.version` of the API description, and the text. */
export const changes = [
  {
    on: "2026-11-27",
    version: "1.1.0",
    what: "The entitlement says what the plan contains: `plan`, `features` and `limits`. Everything else is as it was.",
  },
  { on: "2026-11-21", version: "1.0.0", what: "The first published version." },
] as const satisfies readonly { on: string; version: string; what: string }[];
