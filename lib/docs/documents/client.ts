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
          [     ] -- 429, 503, no network, no JSON ----> [ keep the last yes until its end ]
          [     ] -- 403, not_configured --------------> [ stop, and say why ]
          [     ] -- 401 ------------------------------> [ sign in again ]
            ^                                               |
            +--- Retry-After, a little later; a new token --+`;

/** What an app needs and the quick start leaves out: one file a language, run by a test. */
export const client: DocumentPage = {
  path: documentPages.client.path,
  title: "A complete client",
  group: "Start",
  summary: "The loop that an app needs, as one tested file in TypeScript, Python, Swift and Kotlin.",
  markdown: () => `# A complete client

An app asks whether its company may run, and goes on asking. This is the whole of it: one file, nothing to install. Copy it.

${code("text", loop, "the-loop")}

## What each answer means

${table(
  ["Answer", "May run", "Ask again"],
  [
    ["`200` with `ok: true`", "yes, for `recheckAfterSeconds`", "a little before they are over"],
    [`\`401\` ${toCode("signed_out")}`, "no", "with another token only: this one is over for good"],
    [
      `\`403\` ${toCode("trial_ended")}, ${toCode("forbidden")}`,
      "no",
      "in ten minutes: the owner may have got a plan",
    ],
    [`\`503\` ${toCode("not_configured")}`, "no", "in ten minutes; an operator has to act"],
    [
      `\`429\`, \`503\` ${toCode("unavailable")}`,
      "as before, until the last yes is over",
      "after `Retry-After`, and a little later",
    ],
    [
      "No network, no answer in ten seconds, no JSON",
      "as before, until the last yes is over",
      "after 5, 10, 20 … 300 seconds",
    ],
  ],
)}

- Nobody said no where nobody answered: an outage of ours, or a train in a tunnel, stops no company before its last yes is over.
- An hour's token is over sooner than a day's work: have the owner sign in again where ${toCode("signed_out")} comes, and never ask again with a token that was refused.
- A random part in every wait keeps apps that stopped together from coming back together.
- Ask at once when the machine wakes up, and when the person presses a button.

## The file

${code("ts", typescriptClient)}

${code("python", pythonClient)}

${code("swift", swiftClient)}

${code("kotlin", kotlinClient)}

The last lines ask once. An app asks in a loop: wait as many seconds as \`ask\` answered, then ask again.

${sessionLimits}
`,
};
