import * as z from "zod";
import { type BackendName, backendRoutes } from "@/lib/backend/addresses";
import { answers } from "@/lib/backend/answers";
import { assertionSeconds } from "@/lib/backend/assertion";
import { inputs } from "@/lib/backend/inputs";
import { refusals } from "@/lib/backend/refusals";
import { eventDays } from "@/lib/config/lifetimes";
import { maxWritesAtOnce } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { renderDocument } from "@/lib/docs/html";
import { code, table } from "@/lib/docs/markdown";
import { eventTypeNames, eventTypes } from "@/lib/events/event";
import { errorCatalogue } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";

/** What each address does. */
const summaries: Record<BackendName, string> = {
  accounts: "Lists accounts, or finds the one with an `email` or a `reference`.",
  account: "Reads an account.",
  accountEntries: "Lists the ledger of an account, oldest first.",
  entries: "Lists the ledgers of all accounts, each entry once.",
  events: "Lists what happened, oldest first: see [Events](#events).",
  checks:
    "Says whether the owner of a token may run, and spends or holds if they may, in one transaction: whatever ends the session, the trial or the licence comes before it or after it.",
  spends: "Spends credits.",
  holds: "Holds credits until they are settled or released, or expire.",
  reference: "Sets your own name for an account, which no other has; `null` takes it away.",
  settle: "Spends what was held. Less gives the rest back at once; more has to be there.",
  release: "Gives back what was held.",
  reverse: "Gives back a spend, or a part of it.",
  batches: `Spends up to ${maxWritesAtOnce} times: each for itself, or with \`"all": true\` all or nothing.`,
};

const names = Object.keys(summaries) as BackendName[];
const isWrite = (name: BackendName): name is keyof typeof inputs => Object.hasOwn(inputs, name);

/** The samples: a program without a library, which a test runs. */
const sample = (url: string) => `
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";

const url = process.env.BACKEND_URL ?? "${url}";
const backend = "worker";
const key = createPrivateKey(readFileSync("worker.pem"));
const encode = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

function assertion() {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const text = \`\${encode({ alg: "EdDSA" })}.\${encode({ iss: backend, aud: url, exp })}\`;
  return \`\${text}.\${sign(null, Buffer.from(text), key).toString("base64url")}\`;
}

async function call(path, body) {
  const idempotency = randomUUID(); // one for each write, and the same when it is repeated
  for (;;) {
    const headers = { authorization: \`Bearer \${assertion()}\`, "idempotency-key": idempotency };
    const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(url + path, request).catch(() => undefined);
    if (response && response.status !== 503 && response.status !== 429) return response.json();
    const seconds = Number(response?.headers.get("retry-after") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const { accounts } = await call("/v1/accounts?limit=1");
const [{ id }] = accounts;
console.log(await call(\`/v1/accounts/\${id}/spends\`, { credits: "0.125", reason: "A page" }));
const hold = await call(\`/v1/accounts/\${id}/holds\`, { credits: "1", reason: "A film", expiresInSeconds: 600 });
console.log(await call(\`/v1/holds/\${hold.id}/settle\`, { credits: "0.4" }));
`;

/** The document of the backend API, in Markdown. */
export function backendMarkdown(): string {
  const { backend, appUrl } = settings();
  const url = backend?.url ?? "";
  const addresses = names.map((name) => {
    const { methods, path } = backendRoutes[name];
    return [`\`${methods[0]} ${path}\``, summaries[name]] as const;
  });
  return `Your own systems, the backends, read accounts, spend and hold credits here, at \`${url}\`. An owner's token opens nothing here, and what opens this opens nothing at ${appUrl}.

## Start

Add a backend, and keep its private key:

${code("sh", "npm run -s admin -- backend add worker --may read,spend > worker.pem")}

Then spend, hold and settle. This program needs Node and no library:

${code("ts", sample(url))}

## Sign each request

\`Authorization: Bearer <JWT>\`: signed by the backend's private key with \`EdDSA\` (Ed25519) or \`ES256\` (P-256), with \`iss\` the backend's id, \`aud\` \`${url}\`, and \`exp\` at most ${assertionSeconds.longest} seconds ahead. Clocks may differ by ${assertionSeconds.leeway} seconds. A 401 says what is wrong. Only public keys are kept here.

## Repeat without fear

Each write needs an \`Idempotency-Key\` of up to 255 characters. The same key with the same address and body gets the first answer, byte for byte, for ever; another body gets 422. A refusal wrote nothing: the same key may succeed later. After a 503 or 429 wait for \`Retry-After\`; after a lost answer, send the same again.

## Amounts

\`credits\` is a text like \`"0.125"\` or a JSON number, exact to three decimals; anything else is 400. Answers have numbers. \`balance\` is what can be spent after the request: the sum of the entries without what is held.

## Addresses

${table(["Address", "What it does"], addresses)}

Lists take \`after\` and \`limit\` (1 to 1,000). \`next\` is the \`after\` of what follows; keep it, and ask again later for new entries. [The description](/openapi.json) has every field.

## Events

\`GET /v1/events?after=\` has what happened of all accounts, complete and in order: none comes before one that was listed earlier, and those of an account have \`number\`s without a gap. Keep \`next\` and send it as \`after\`. Events are kept for ${eventDays} days; if some after \`after\` are gone, the answer is 410.

${table(
  ["Type", "`data`, next to `account` and `number`"],
  eventTypeNames.map((type) => [`\`${type}\``, eventTypes[type]] as const),
)}

## Errors

\`{"error":{"code","message","hint","docs"}}\`, as [at the public API](${appUrl}${pages.errors.path}), with these codes next to its own:

${Object.entries(refusals)
  .map(([code, { status, when, hint }]) => `### ${code}\n\nHTTP ${status}. ${when}\n\n${hint}\n`)
  .join("\n")}`;
}

/** The same as a page. */
export function backendPage(): string {
  const title = "The backend API";
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

/** The description of the backend API: OpenAPI 3.1. */
export function backendDescription(): object {
  const { backend } = settings();
  const error = { description: "An error.", content: jsonOf({ $ref: "#/components/schemas/Error" }) };
  const paths = names.map((name) => {
    const { methods, path } = backendRoutes[name];
    const operation = {
      operationId: name,
      summary: summaries[name],
      parameters: parametersOf(name),
      ...(isWrite(name) && {
        requestBody: { required: true, content: jsonOf(schemaOf(inputs[name], "input")) },
      }),
      responses: {
        200: { description: "Done.", content: jsonOf(schemaOf(answers[name], "output")) },
        default: error,
      },
    };
    return [path, { [methods[0].toLowerCase()]: operation }];
  });
  const codes = [...Object.keys(refusals), ...Object.keys(errorCatalogue)];
  const text = { type: "string" };
  const detail = {
    type: "object",
    required: ["code", "message", "hint", "docs"],
    properties: { code: { enum: codes }, message: text, hint: text, docs: { type: "string", format: "uri" } },
  };
  return {
    openapi: "3.1.1",
    info: {
      title: "Corner Office: the backend API",
      version: "1.0.0",
      description: `How requests are signed and repeated: ${backend?.url}/docs`,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: backend?.url }],
    security: [{ assertion: [] }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: { Error: { type: "object", required: ["error"], properties: { error: detail } } },
      securitySchemes: {
        assertion: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A JWT that the backend's private key signed: see `/docs`.",
        },
      },
    },
  };
}

const jsonOf = (schema: object) => ({ "application/json": { schema } });

function schemaOf(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema, ...made } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return made;
}

/** The parameters of an address: its id, its key, and what its list is asked with. */
function parametersOf(name: BackendName): object[] {
  const { path } = backendRoutes[name];
  const text = (name: string, where: string, required = false) => ({
    name,
    in: where,
    required,
    schema: { type: "string" },
  });
  const isList = path.endsWith("/accounts") || path.endsWith("/entries") || path.endsWith("/events");
  return [
    ...(path.includes("{id}") ? [text("id", "path", true)] : []),
    ...(isWrite(name) ? [text("Idempotency-Key", "header", name !== "checks")] : []),
    ...(isList
      ? [
          text("after", "query"),
          { ...text("limit", "query"), schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
        ]
      : []),
    ...(name === "accounts" ? [text("email", "query"), text("reference", "query")] : []),
  ];
}
