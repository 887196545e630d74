import { settings } from "@/lib/config/settings";
import { changes } from "@/lib/docs/changes";
import type { DocumentText } from "@/lib/docs/document";
import { code, to, toCode } from "@/lib/docs/markdown";
import { operations } from "@/lib/http/register/operations";
import { listRetirements, minNoticeDays } from "@/lib/http/retirement";
import type { Retirement } from "@/lib/http/route";

/** The versioning and retirement policy, where the `Link` of every response points. */
export const policy: DocumentText = {
  title: "Versions and retirement",
  group: "Rules",
  summary: "How to select a version, what may change, how something is retired, and the change log.",
  markdown: () => `## Selecting a version

The header \`API-Version: 1\` selects major version 1. It is optional: omitting it selects version 1. Every answer of a documented operation confirms \`API-Version: 1\`. An unsupported version answers \`400\` with the code ${toCode("invalid_request")} before the operation runs.

${code("sh", `curl -sS -H "API-Version: 1" "$CORNER_OFFICE_URL${operations.health.path}"`)}

The [API description](${to.openApi})'s \`info.version\` (${changes[0].version}) versions the description itself; \`API-Version\` selects the major version.

## What can change within a version

Additive fields and new operations can arrive. Clients ignore unknown fields. Removing a field, changing a field's type or changing a route's meaning requires a new major version. Version 1 stays the default until a published retirement date.

## How something is retired

Retirement of a version or operation is announced here at least ${minNoticeDays} days ahead, with a migration guide. Affected responses then carry \`Deprecation\` (RFC 9745: \`@\` followed by Unix seconds) and \`Sunset\` (RFC 8594: an HTTP date). The sunset date is at least ${minNoticeDays} days after the announcement and not earlier than the deprecation date.

${code("http", "Deprecation: @1801440000\nSunset: Thu, 01 Apr 2027 00:00:00 GMT")}

Existing behaviour continues through the window. Urgent security fixes may restrict unsafe behaviour immediately. After the sunset, a retired operation returns \`410\` with the code ${toCode("not_found")} and the guide in the hint. \`POST ${operations.unsubscribe.path}\` is never retired, because the links of mails do not expire.

Every response links to this page, also if nothing is being retired:

${code("http", `Link: <${settings().appUrl}${to.policy}>; rel="deprecation"; type="text/html"`)}

This policy covers the ${Object.keys(operations).length} operations of the public API, not private workspace routes.

## Being retired now

${retirements()}

## Change log

It is also available as a [page](${to.changes}) and a [feed](${to.changesFeed}).

${changes.map(({ on, version, what }) => `- **${on}, ${version}.** ${what}`).join("\n")}
`,
};

/** The dates of a retirement and its guide, in words that hold before and after its sunset. */
export function describeRetirement({ announcedAt, deprecatedAt, sunsetAt, guide }: Retirement): string {
  return `announced ${announcedAt}, deprecated from ${deprecatedAt}, returns \`410\` from ${sunsetAt}. [How to migrate](${guide})`;
}

function retirements(): string {
  const lines = listRetirements().map(
    ({ what, retirement }) => `- **${what}:** ${describeRetirement(retirement)}`,
  );
  return lines.length > 0 ? lines.join("\n") : "No public operation is currently deprecated.";
}
