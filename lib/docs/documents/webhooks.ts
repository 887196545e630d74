import { deliveryDays, eventDays, formerSecretHours, webhookTriedDays } from "@/lib/config/lifetimes";
import type { DocumentText } from "@/lib/docs/document";
import { code, json, table, to } from "@/lib/docs/markdown";
import { programs } from "@/lib/docs/samples";
import { eventTypeNames, eventTypes } from "@/lib/events/event";

const own = { ownFeatures: null, ownLimits: null, givenEndsAt: null };
const example = {
  type: "entitlement.changed",
  timestamp: "2027-01-31T09:00:00.000Z",
  data: {
    account: "acc_Jm3cAl0oZqk2yWq3sUeVbg",
    number: 7,
    before: {
      status: "trial",
      trialEndsAt: "2027-01-31T09:00:00.000Z",
      assistantLimit: 3,
      plan: "trial",
      ...own,
    },
    after: { status: "licensed", trialEndsAt: null, assistantLimit: 7, plan: "studio", ...own },
  },
};

const edit = {
  before: { plan: "studio", features: ["voice"], limits: { assistants: 7, projects: 20 } },
  after: { plan: "studio", features: ["voice", "video"], limits: { assistants: 7, projects: 50 } },
};

/** What the operator's own systems are told, and how they verify it. */
export const webhooks: DocumentText = {
  title: "Webhooks",
  group: "Reference",
  showsSamplesBeside: true,
  summary: "The operator's own systems are told what happens to an account, signed and in order.",
  markdown:
    () => `This page is for the operator's own systems. An app asks instead: see [what an app does without webhooks](${to.apiReference}#webhooks). Deliveries are signed: [verify each](#verify-a-delivery).

The operator adds a receiver in the shell, which prints its secret once:

${code("sh", "npm run -s admin -- webhook add https://systems.example.com/events --events entitlement.changed,account.deleted")}

Each event is a \`POST\` of JSON:

${json(example)}

\`account\` is the id of the account. Events have ids and figures, and no email: read the account at the backend API if you need more, and an erasure recalls nothing. \`number\` counts the events of the account, from 1 and without a gap.

## Types

${table(
  ["`type`", "What it says, in `data` next to `account` and `number`"],
  eventTypeNames.map((type) => [`\`${type}\``, eventTypes[type]]),
)}

An operator's edit of a plan counts at once, and is told to each of its accounts with what the plan contained and contains, to 300,000 of them within a few minutes:

${json(edit)}

Other types can be added: answer what you do not know with 204. \`webhook.test\` comes when the operator tests the receiver; its \`account\` is \`null\`.

## Verify a delivery

Deliveries are signed as [Standard Webhooks](https://www.standardwebhooks.com) says: \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. Use its library, the secret as it was printed, and the body as it came. For ${formerSecretHours} hours after \`webhook rotate\`, there are two signatures. 

With \`webhook add --ed25519\` you get a public key, which its libraries do not know yet: the base64 after \`whpk_\` is the key, and what follows \`v1a,\` is its signature of \`<webhook-id>.<webhook-timestamp>.<body>\`, in base64. Refuse a timestamp that is more than five minutes off.

${programs("receiver.mjs", "receiver.py")}

## What a receiver does

- **Answer 2xx within ten seconds**, and work afterwards. Anything else is a failure, a redirect too. \`Retry-After\` is followed.
- **Expect repetitions**, always with the same \`webhook-id\`: a lost answer is one reason. Never the same id for two events.
- **Rely on the order of an account**: its next event comes after you accepted the one before. Accounts do not wait for each other.
- **Fail as long as you cannot process it.** It is tried for ${webhookTriedDays} days, at growing intervals of up to half an hour. Then that event is given up. A receiver that accepted nothing for ${webhookTriedDays} days, or answers 410, is stopped; the operator sees that, and starts it with \`webhook test <id>\`. It then goes on where it stopped.
- **Catch up** at the backend API, \`GET /v1/events?after=\`, or with \`webhook resend <id> --since <ISO>\`: events are kept for ${eventDays} days, what a receiver said for ${deliveryDays}.

The address must be https, except on the same machine, and public, unless the operator names its network in \`WEBHOOK_NETWORKS\`.
`,
};
