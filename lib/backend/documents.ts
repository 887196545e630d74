import { accountStates } from "@/lib/accounts/accounts";
import { type BackendName, backendRoutes, clientRoutes, clientVersion } from "@/lib/backend/addresses";
import { account, answers, entry, event, hold, listedEntry, plan, refused } from "@/lib/backend/answers";
import { assertionSeconds } from "@/lib/backend/assertion";
import { nameOf, takesBody } from "@/lib/backend/description";
import { inputs } from "@/lib/backend/inputs";
import { allRefusals, refusals, refusalsOf } from "@/lib/backend/refusals";
import { exchange, signedByHand, startLines } from "@/lib/backend/samples";
import { eventDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { fieldTable } from "@/lib/docs/fields";
import { renderDocument } from "@/lib/docs/html";
import { anchorOf, table } from "@/lib/docs/markdown";
import { programs } from "@/lib/docs/samples";
import { eventTypeNames, eventTypes } from "@/lib/events/event";
import { pages } from "@/lib/http/register/pages";
import { maxPlans } from "@/lib/plans/plan";

const title = "The backend API";

/** The document of the backend API, in Markdown. */
export function backendMarkdown(): string {
  const { backend, appUrl } = settings();
  const url = backend?.url ?? "";
  return `Your own systems, the backends, read accounts, spend and hold credits here, at \`${url}\`. An owner's token opens nothing here, and what opens this opens nothing at ${appUrl}. Everything is on this page, and in [the description](/openapi.json) for generators of clients.

## Start

${startLines(url)}

## The client files

| Language | Version ${clientVersion} | Needs |
| --- | --- | --- |
| TypeScript | [corner-office-backend.ts](${clientRoutes.typescript.path}) | Node 22.18 or newer |
| Python | [corner_office_backend.py](${clientRoutes.python.path}) | Python 3.9 or newer, the package \`cryptography\` |

Each is one file with types. It signs every request, repeats what got no answer with the same key, waits for \`Retry-After\`, and tells what was refused from what is not known yet. If the clock of your machine is wrong, it takes the time from the \`Date\` of the answer that says so, and signs once more. With the \`api\` of the programs above:

${programs("backend-client.mjs")}

In Python:

${programs("backend-client.py")}

## Sign each request

Send \`Authorization: Bearer <assertion>\`. The assertion is a JWT (RFC 7519): three parts with dots between them, each in base64url without \`=\`.

| Part | What it is |
| --- | --- |
| header | \`{"alg":"EdDSA"}\` for an Ed25519 key, \`{"alg":"ES256"}\` for a P-256 key; other fields do no harm |
| claims | \`{"iss":"worker","aud":"${url}","exp":1794987600}\`: \`iss\` is the backend's id, \`aud\` this address, \`exp\` seconds since 1970, at most ${assertionSeconds.longest} ahead |
| signature | of the text \`header.claims\` as it is sent, by the private key; for ES256 the 64 bytes of r and s, not DER |

Sign anew for each attempt, with \`exp\` a minute ahead, as a number of seconds. An assertion may be used until then, so never log it. Clocks may differ by ${assertionSeconds.leeway} seconds; a 401 says what the clock here says, and so does its \`Date\`. \`backend add\` makes an Ed25519 pair and prints the private key in PEM (PKCS #8); with \`--public-key file\` it takes yours, and the private one never leaves your machine. A library that wants Ed25519's seed (libsodium) finds it in the last 32 bytes of that key in DER.

A shell does it like this:

${signedByHand(url)}

## A write, as it is sent

${exchange(url)}

## What each answer means

| Answer | What it means | What to do |
| --- | --- | --- |
| 200 | Done. For a repeated key: done before, and this is the first answer | go on |
| 401 [\`invalid_assertion\`](#invalid_assertion) | the signature, the clock or the address is wrong, and nothing was done | compare \`Date\` with your clock, sign anew once, then give up |
| another 4xx with \`error.code\` | refused, and nothing was done | branch on the code; see [Errors](#errors) |
| 429, 500, 503 | not known: it may have been done | wait for \`Retry-After\`, then send the same bytes with the same key |
| no answer, no JSON, a redirect | not known; something before the service answered | the same, after a growing pause |

## Repeat without fear

Each write needs an \`Idempotency-Key\` of up to 255 characters, without a comma; only a check that neither spends nor holds needs none. The same key with the same address and body gets the first answer, byte for byte, for ever; another body gets 422. "The same" is the same bytes, so keep the body as you sent it: fields in another order, or with other blanks, are another body. A refusal wrote nothing: the same key may succeed later. A request whose key is in work waits for its answer. Repeat a check with the same token: the first answer comes also once that has expired. Keys are each backend's own.

## Amounts

\`credits\` is a text like \`"0.125"\` or a JSON number, exact to three decimals; anything else is 400. It is more than 0, or 0 where a hold is settled. Answers have numbers, which the Python file gives as \`int\` and \`Decimal\`. \`balance\` is what can be spent after the request: the sum of the entries without what is held, never below 0.

## Addresses

Bodies and answers are JSON in UTF-8; send \`Content-Type: application/json\`. A body or a query with a field that is not listed is refused, as is an empty text; in a body, an optional field that is \`null\` is as if it were absent. Ignore fields of answers that you do not know. Ids are up to 200 letters, digits and \`_-.~\`; keep them as they are. In a query, percent-encode: the \`+\` of an email is \`%2B\`. Any backend that may spend can settle, release and reverse what another one wrote. Wait ten seconds for an answer.

${Object.keys(backendRoutes)
  .map((name) => addressSection(name as BackendName))
  .join("\n\n")}

## Objects

${[account, plan, entry, listedEntry, hold, event, refused]
  .map((object) => `### ${nameOf(object)}\n\n${fieldTable(object)}`)
  .join("\n\n")}

## Lists

\`limit\` is 1 to 1,000, and 100 without it. \`after\` begins after something: without it, or empty, a list begins at its start.

- Accounts come in the order of their ids. \`next\` is the \`after\` of the next page, and null at the end. An account that is added meanwhile may come or not.
- Plans come from the least to the most, all in one answer: there are ${maxPlans} at most. \`next\` is as with accounts, and \`after\` the name of a plan.
- Entries come oldest first, and none is changed or taken away. \`next\` is the \`after\` of what follows, also on the last page, which is shorter than \`limit\`: keep it, and ask again later for what came since. It belongs to its list. The id of an entry does the same. So it is with events. In the list of all accounts each entry comes once, also if several are written at once.

## Plans

An account and a check say what their owner has: \`plan\`, \`features\` and \`limits\`, with what an operator gave the account beyond its plan. A name that is missing in \`limits\` is not limited, and neither is one with \`null\`; 0 is none at all. Keep \`GET /v1/plans\`, and ask again when the \`after\` of an event \`entitlement.changed\` has \`features\`, because then an operator has edited a plan, and when you meet a plan that you do not know. Decide by features and limits, and never by the name of a plan: others are added. Begin work only after a check with \`ok\` true. [What apps do with the same fields](${appUrl}${pages.plans.path}).

## Events

\`GET /v1/events?after=\` has what happened of all accounts, complete and in order: none comes before one that was listed earlier, and those of an account have \`number\`s without a gap. Keep \`next\` and send it as \`after\`. Events are kept for ${eventDays} days; if some after \`after\` are gone, the answer is 410. [Webhooks](${appUrl}${pages.webhooks.path}) bring the same events to you.

${table(
  ["Type", "`data`, next to `account` and `number`"],
  eventTypeNames.map((type) => [`\`${type}\``, eventTypes[type]] as const),
)}

## Errors

A refusal is \`{"error":{"code","message","hint","docs"}}\`, sometimes with figures next to \`error\`. Branch on \`code\`; \`message\` and \`hint\` are for people. Codes are only added.

${errorSections()}
`;
}

function addressSection(name: BackendName): string {
  const { methods, path, summary, needs } = backendRoutes[name];
  const object = nameOf(answers[name]);
  const isOwn = [account, entry, hold].some((shown) => shown === answers[name]);
  const codes = [...refusalsOf(name).values()]
    .flat()
    .filter((one) => one in refusals && one !== "invalid_assertion");
  const parts = [
    `### ${methods[0]} ${path}`,
    `${summary} Needs the permission \`${needs}\`${name === "checks" ? ", and with a cost `spend`" : ""}.`,
    queries[name],
    takesBody(name) && bodyOf(name),
    isOwn ? `Answers: [${object}](#${anchorOf(object)}).` : `Answers:\n\n${fieldTable(answers[name])}`,
    codes.length > 0 && `Refuses with ${codes.map((one) => `[\`${one}\`](#${one})`).join(", ")}.`,
  ];
  return parts.filter(Boolean).join("\n\n");
}

const listQuery = "`after` and `limit`, as [Lists](#lists) says";
const queries: Partial<Record<BackendName, string>> = {
  accounts: `Query: ${listQuery}; \`email\` or \`reference\` finds the account that has exactly this one (an email in any case), in a list of one or none; \`plan\` and \`state\` (${accountStates.map((state) => `\`${state}\``).join(", ")}) leave those accounts that have it now.`,
  accountEntries: `Query: ${listQuery}.`,
  entries: `Query: ${listQuery}.`,
  events: `Query: ${listQuery}.`,
  plans: `Query: ${listQuery}.`,
};

function bodyOf(name: keyof typeof inputs): string {
  const fields = fieldTable(inputs[name], "input");
  return fields.split("\n").length > 2 ? `Body:\n\n${fields}` : "Body: `{}`.";
}

function errorSections(): string {
  const sections = Object.entries(allRefusals).map(([code, { status, also, when, hint }]) => {
    const statuses = [[status].flat().join(" or "), also].filter(Boolean).join(", ");
    return `### ${code}\n\nHTTP ${statuses}. ${when}\n\nWhat to do: ${hint}`;
  });
  return sections.join("\n\n");
}

/** The same as a page. */
export function backendPage(): string {
  const document = { title, summary: title, path: pages.quickStart.path, markdown: backendMarkdown };
  const { intro, html } = renderDocument(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body>
<main>
<h1>${title}</h1>
${intro}${html}</main>
</body>
</html>
`;
}
