import type { DocumentText } from "@/lib/docs/document";
import { operationWords, toOperation } from "@/lib/docs/documents/operations";
import { json, linkToPage, to } from "@/lib/docs/markdown";
import { programs } from "@/lib/docs/samples";
import { creditUseInWords } from "@/lib/docs/words";
import { pages } from "@/lib/http/register/pages";

/** How an app follows what its owner's plan contains. */
export const plans: DocumentText = {
  title: "Plans",
  group: "Start",
  showsSamplesBeside: true,
  summary: "How your app follows what its owner's plan contains: features and limits.",
  markdown:
    () => `The operator decides what a plan contains, and may change it at any time. So your app asks, and has no list of plans of its own: a new feature then reaches everyone who has the plan, without a new version of your app.

A yes of ${toOperation("entitlement")} says what the owner has:

${json(operationWords.entitlement.example as object)}

| Field | What it is | What your app does |
| --- | --- | --- |
| \`plan\` | the name of the plan | shows it, and decides nothing by it: there will be plans that your app does not know |
| \`features\` | the names of what the plan contains | offers what is in the list, and ignores names that it does not know |
| \`limits\` | whole numbers by the names of what they limit | makes no more than that. \`null\` is no limit, and so is a name that is missing; 0 is none at all |

\`assistantLimit\` is \`limits.assistants\`, and missing if that is no limit. \`status\` says what it always said: \`licensed\`, \`trial\` or \`hobby\`, whatever the plan's name is. What the operator gave this account beyond its plan is in the same fields.

## Ask for a feature or a limit

[The client](${to.client}) has a call for each:

${programs("plan.mjs", "plan.py", "plan.swift", "plan.kt")}

While the company may not run, no feature is there and each limit is 0. Without a limit, \`limit\` is the greatest number of the language. For a service that sends no plans yet, no feature is there, and nothing is limited but the assistants.

## What a credit buys

${creditUseInWords()} Show how many there are, which ${toOperation("creditsBalance")} answers. Your app only reads them: the operator's own systems take what a job costs, and say for what.

## What to rely on

- **Only a \`200\` with \`ok: true\` may run.** A feature is no permission of its own. A denial has none of these fields, and means what it meant before.
- **An edited plan comes with the next answer**, within \`recheckAfterSeconds\`, 15 minutes at most. After the owner has bought something at ${linkToPage(pages.billing)}, ask at once: \`wake()\`.
- **An outage takes nothing away** until the last yes expires.
- **A limit is for what comes next.** If there are 30 projects and the limit is 20 now, leave them as they are, and make no 31st.
- **Names keep their meaning.** They are up to 40 lower-case letters, digits and hyphens. Agree with the operator on those that your app asks for.
- **Check it where the work is done.** A person can alter an app on their own machine. What the operator pays for, the operator's backend checks: its API answers with the same fields.

## Read it leniently

Fields, features and limits are added, so a decoder that refuses what it does not know stops your app on a day when nothing is wrong. Read \`plan\`, \`status\` and the features as texts, not as an enumeration that is closed, and limits as a map. Do not switch on: in Python \`extra="forbid"\` of pydantic, in TypeScript \`.strict()\` of zod, in C# \`UnmappedMemberHandling.Disallow\`, in Go \`DisallowUnknownFields\`. In Kotlin, switch on \`ignoreUnknownKeys\` of kotlinx.serialization. In Swift, make the fields optional.
`,
};
