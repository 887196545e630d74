import {
  bodyLimits,
  bodyPieces,
  connectionLimits,
  exchangeWithinMs,
  headBoundsInWords,
  inKibibytes,
  quotas,
} from "@/lib/config/limits";
import type { DocumentPage } from "@/lib/docs/document";
import { toCode } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { patientCall } from "@/lib/docs/samples";
import { mcpServer, operations } from "@/lib/http/operations";
import { documentPages } from "@/lib/http/pages";

const allowance = ({ requests, windowSeconds }: { requests: number; windowSeconds: number }) =>
  `${requests} requests per ${windowSeconds} seconds`;

export const limits: DocumentPage = {
  path: documentPages.limits.path,
  title: "Limits",
  group: "Rules",
  summary: "Quotas, their headers, sizes and deadlines, and code that obeys them.",
  markdown: () => `# Limits

${table(
  ["Scope", "Limit"],
  [
    [`\`GET ${operations.health.path}\``, `${allowance(quotas.health)} per client address`],
    [
      `MCP server (\`POST\` JSON at ${mcpServer.paths.map((path) => `\`${path}\``).join(" and ")})`,
      `${allowance(quotas.mcp)} per address, shared by both paths`,
    ],
    [
      "Other public REST operations",
      "No additional application quota; infrastructure and account safeguards may still apply",
    ],
  ],
)}

One client address is an IPv4 address, or an IPv6 /64: one household. Addresses are hashed before they are stored.

## How requests are counted

What counts are the last ${quotas.health.windowSeconds} seconds, with no moment at which all quota returns. Kept per process, the counter counts exactly these. Shared across server instances, where a shared store is configured, it approximates them: it counts whole windows of ${quotas.health.windowSeconds} seconds, and weighs the one before by how much of it the last ${quotas.health.windowSeconds} seconds still hold.

A refused request is not counted; nor is one that is refused earlier, for its address, its method or its \`API-Version\`; nor is an \`OPTIONS\`.

When the shared store is away, health checks go on being answered, and the remaining quota is reported as zero until it is back; the MCP server counts in each process for as long.

## Headers

Counted answers, a \`429\` included, carry:

${table(
  ["Header", "Meaning"],
  [
    [
      "`RateLimit-Policy`",
      "The name of the policy in quotes (`health`, `mcp`), `q` requests, in `w` seconds",
    ],
    [
      "`RateLimit`",
      "The same name, and `r`, the remaining quota; on a refusal `t`, the seconds before asking again",
    ],
    ["`RateLimit-Limit`", "For older clients: requests allowed in the window"],
    ["`RateLimit-Remaining`", "For older clients: requests still available"],
    [
      "`Retry-After`",
      "On a `429`: a positive integer, equal to `t`: after so many seconds a request is let in, unless others from your address were sooner",
    ],
  ],
)}

${code(
  "http",
  `HTTP/1.1 429 Too Many Requests
RateLimit-Policy: "health";q=${quotas.health.requests};w=${quotas.health.windowSeconds}
RateLimit: "health";r=0;t=17
RateLimit-Limit: ${quotas.health.requests}
RateLimit-Remaining: 0
Retry-After: 17`,
)}

The first two follow an IETF draft (draft-ietf-httpapi-ratelimit-headers-11), not an RFC. Their values are snapshots, not reservations. Do not assume that every answer carries them. Answers that carry them are never cached; the MCP server lets browsers read them.

## Backing off

On a \`429\`, whose code is ${toCode("unavailable")}, wait at least \`Retry-After\` seconds and add a small random delay, so that clients refused together do not come back together. The same goes for a \`503\`.

${patientCall}

Entitlement clients need no such loop for a good answer: they ask again within \`recheckAfterSeconds\`, which is from 600 to 900, and differs so that apps do not come all at once.

## Sizes and deadlines

${table(
  ["What", "Limit", "Past it"],
  [
    ["Body of an unsubscribe", inKibibytes(bodyLimits.unsubscribe), `\`413\` ${toCode("too_large")}`],
    ["Message to the MCP server", inKibibytes(bodyLimits.mcp), `\`413\` ${toCode("too_large")}`],
    [
      "Pieces that a body comes in",
      `${bodyPieces.any.toLocaleString("en")}, and one more for each ${bodyPieces.bytesForOneMore} bytes`,
      `\`400\` ${toCode("invalid_request")}`,
    ],
    ["Request line and headers", headBoundsInWords, `\`431\` ${toCode("too_large")}`],
    [
      "Time for the headers to arrive",
      seconds(connectionLimits.headersTimeout),
      `\`408\` ${toCode("invalid_request")}`,
    ],
    [
      "Time for the whole request to arrive",
      seconds(connectionLimits.requestTimeout),
      `\`408\` ${toCode("invalid_request")}`,
    ],
    [
      "Time from the headers until the whole answer is taken",
      seconds(exchangeWithinMs),
      "The connection is broken off",
    ],
  ],
)}
`,
};

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000} seconds`;
}
