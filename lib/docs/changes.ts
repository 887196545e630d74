/**
 * What has changed in the API, newest first: `on` is the day it went out. The page of changes, its feed, the policy and
 * the API description read it. `version` is what the description says from then on.
 */
export const changes = [
  {
    on: "2026-11-21",
    version: "1.0.0",
    what: "The first published version.",
  },
] as const satisfies readonly { on: string; version: string; what: string }[];

/** What `info.version` of the API description says: the latest change's. */
export const descriptionVersion = changes[0].version;
