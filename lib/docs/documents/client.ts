import { kotlinClient } from "@/lib/docs/clients/kotlin";
import { pythonClient } from "@/lib/docs/clients/python";
import { swiftClient } from "@/lib/docs/clients/swift";
import { typescriptClient } from "@/lib/docs/clients/typescript";
import type { DocumentPage } from "@/lib/docs/document";
import { toCode } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { sessionLimits } from "@/lib/docs/words";
import { documentPages } from "@/lib/http/pages";

const loop = `
            +--------- before recheckAfterSeconds ----------+
            v                                               |
          [ ask ] -- 200, ok: true --------------------> [ run ]
          [     ] -- 429, 503, no network, no JSON ----> [ keep running until the last yes expires ]
          [     ] -- 403, not_configured --------------> [ stop, and say why ]
          [     ] -- 401 ------------------------------> [ sign in again ]
            ^                                               |
            +--- Retry-After, a little later; a new token --+`;

/** The loop that an app needs, as one tested file per language. */
export const client: DocumentPage = {
  path: documentPages.client.path,
  title: "A complete client",
  group: "Start",
  summary: "The loop that an app needs, as one tested file in TypeScript, Python, Swift and Kotlin.",
  markdown: () => `# A complete client

An app checks whether its company may run, and keeps checking. This client does that in one file, with nothing to install. Copy it.

${code("text", loop, "the-loop")}

## What each answer means

${table(
  ["Response", "May run", "Ask again"],
  [
    ["`200` with `ok: true`", "yes, for `recheckAfterSeconds`", "shortly before that time ends"],
    [`\`401\` ${toCode("signed_out")}`, "no", "only with a new token: this one never works again"],
    [
      `\`403\` ${toCode("trial_ended")}, ${toCode("forbidden")}`,
      "no",
      "in ten minutes: the owner may have chosen a plan",
    ],
    [`\`503\` ${toCode("not_configured")}`, "no", "in ten minutes: an operator has to set up sign-in"],
    [
      `\`429\`, \`503\` ${toCode("unavailable")}`,
      "as before, until the last yes expires",
      "after `Retry-After`, plus a random delay",
    ],
    [
      "No network, no response within ten seconds, no JSON",
      "as before, until the last yes expires",
      "after 5, 10, 20 … 300 seconds",
    ],
  ],
)}

- No answer isn't a refusal: keep running until the last yes expires, through an outage on our side or a train tunnel.
- Only a \`200\` with \`ok: true\` lets a company run, for \`recheckAfterSeconds\` by a monotonic clock. Show \`trialEndsAt\`, but never compare it with the device’s clock: a device that is an hour fast would stop a company that may run.
- A token lives for an hour at most. On ${toCode("signed_out")}, have the owner sign in again, and never retry with a refused token.
- Every wait has a random part, so that apps that stopped together do not return together.
- Ask immediately when the machine wakes up, and when the person clicks a button.

## The file

${code("ts", typescriptClient)}

${code("python", pythonClient)}

${code("swift", swiftClient)}

${code("kotlin", kotlinClient)}

The last lines ask once. An app asks in a loop: it waits for as many seconds as \`ask\` returns, then asks again.

${sessionLimits}
`,
};
