import { describeSeconds } from "@/lib/config/durations";
import {
  bodyLimits,
  bodyPieces,
  connectionLimits,
  exchangeBounds,
  headBoundsInWords,
  inKibibytes,
  maxClientsOfNetwork,
  maxPipelined,
  maxRequestsInWork,
  quotas,
  turnBounds,
} from "@/lib/config/limits";
import type { DocumentText } from "@/lib/docs/document";
import { code, table, to, toCode } from "@/lib/docs/markdown";
import { headersOf } from "@/lib/docs/response-headers";
import { programs } from "@/lib/docs/samples";
import { mcpServer } from "@/lib/http/register/mcp";
import { type Operation, operations } from "@/lib/http/register/operations";

const allowance = ({ requests, windowSeconds }: { requests: number; windowSeconds: number }) =>
  `${requests} requests per ${windowSeconds} seconds`;

const ofOperations = Object.values<Operation>(operations).flatMap(({ methods, path, quota }) =>
  quota ? [`| \`${methods[0]} ${path}\` | ${allowance(quotas[quota])} per client address |`] : [],
);

const policies = Object.keys(quotas).map((name) => `\`${name}\``);

/** Those of a refused health check, without those of every response. */
const quotaHeaders = () =>
  headersOf(operations.health, 429).filter(({ name }) => /^(RateLimit|Retry)/.test(name));

export const limits: DocumentText = {
  title: "Limits",
  group: "Rules",
  summary: "Quotas, their headers, sizes and deadlines, and code that obeys them.",
  markdown: () => `| Scope | Limit |
| --- | --- |
${ofOperations.join("\n")}
| MCP server (\`POST\` JSON at ${mcpServer.paths.map((path) => `\`${path}\``).join(", ")}) | ${allowance(quotas.mcp)} per address, shared by all paths |
| Other public REST operations | No additional application quota; infrastructure and account safeguards may still apply |

A client address is one IPv4 address, or one IPv6 /64 network, which is usually one household. Where more than ${maxClientsOfNetwork} of these networks ask from one /48 within ten minutes, its others count as one client for each /56. Addresses are hashed before they are stored.

Hosted agents call from a few addresses for all their users. Inside networks that the operator of this service has listed as theirs, a request to the MCP server with a valid token counts for its account instead, with the same limit, and any other request for its address.

What an account may have, such as assistants or projects, is limited by its [plan](${to.plans}), and by nothing here.

## How requests are counted

The window slides: the requests of the last ${quotas.health.windowSeconds} seconds count, and the quota never resets all at once. The count is exact, also where several server instances share it.

Not counted are requests that are refused for the quota, or earlier for their path, method or \`API-Version\`, and \`OPTIONS\` requests.

While the shared store is unavailable, health checks are still answered and report a remaining quota of zero, and everything else is counted in each process.

## Headers

Responses to counted requests, and a \`429\`, carry:

${table(
  ["Header", "Meaning"],
  quotaHeaders().map(({ name, meaning }) => [`\`${name}\``, meaning]),
)}

${code("http", ["HTTP/1.1 429 Too Many Requests", ...quotaHeaders().map(({ name, example }) => `${name}: ${example}`)].join("\n"))}

The policies are named ${policies.join(" and ")}. \`Retry-After\` is a positive integer, equal to \`t\`: after that many seconds one request is accepted, unless another one from your address came first.

The first two follow an IETF draft (draft-ietf-httpapi-ratelimit-headers-11), not an RFC. Their values are snapshots, not reservations. Do not assume that every response carries them. Responses that carry them are never cached. Browsers can read those of the MCP server.

## Backing off

On a \`429\`, whose code is ${toCode("unavailable")}, wait at least \`Retry-After\` seconds and add a small random delay, so that clients that were refused together do not return together. Do the same on a \`503\`.

${programs("retries.mjs", "retries.py")}

Entitlement clients need no such loop after a \`200\`: they ask again within \`recheckAfterSeconds\`, a random value from 600 to 900, or less if a trial ends sooner, so that apps do not all ask at once.

## Sizes and deadlines

| Part | Limit | Beyond the limit |
| --- | --- | --- |
| Body of an unsubscribe | ${inKibibytes(bodyLimits.unsubscribe)} | \`413\` ${toCode("too_large")} |
| Message to the MCP server | ${inKibibytes(bodyLimits.mcp)} | \`413\` ${toCode("too_large")} |
| Chunks of a body | ${bodyPieces.any.toLocaleString("en")}, and one more for each ${bodyPieces.bytesForOneMore} bytes | \`400\` ${toCode("invalid_request")} |
| Requests that wait for the one before on a connection | ${String(maxPipelined)} | \`429\` ${toCode("unavailable")} |
| Requests with a body at once from one IPv4 address or one IPv6 /48 | ${String(maxRequestsInWork)} | \`429\` ${toCode("unavailable")} |
| Searches and documents of the MCP server, from one IPv4 address or one IPv6 /48 | about 20 a second; more wait for up to ${turnBounds.messages.waitMs / 1000} seconds | \`429\` or \`503\` ${toCode("unavailable")} |
| Request line and headers | ${headBoundsInWords} | \`431\` ${toCode("too_large")} |
| Time for the headers to arrive | ${describeSeconds(connectionLimits.headersTimeout / 1000)} | \`408\` ${toCode("invalid_request")} |
| Time for the whole request to arrive | ${describeSeconds(connectionLimits.requestTimeout / 1000)} | \`408\` ${toCode("invalid_request")} |
| Time from the headers until the response has been read | ${describeSeconds(exchangeBounds.withinMs / 1000)}, and a second for each ${inKibibytes(exchangeBounds.bytesPerSecond)} that you have read | The connection is closed |
`,
};
