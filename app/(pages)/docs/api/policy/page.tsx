import type { Metadata } from "next";
import { type Operation, operations } from "@/lib/api/operations";

export const metadata: Metadata = { title: "Versions and retirement" };

/** Where the `Link` of every answer points: the versioning and retirement policy, and what is being retired. */
export default function Policy() {
  return (
    <>
      <h1>Versions and retirement</h1>
      <h2>Selecting a version</h2>
      <p>
        The header <code>API-Version: 1</code> selects major version 1. It is optional: leaving it out selects
        version 1, which stays the default until a published retirement date. Every answer of an operation
        confirms <code>API-Version: 1</code>. Any other value answers 400 with the code{" "}
        <a href="/docs/api/errors#invalid_request">
          <code>invalid_request</code>
        </a>{" "}
        before the operation runs. The <code>info.version</code> of the API description (1.0.0) versions the
        description itself; <code>API-Version</code> selects the major version.
      </p>
      <h2>What can change within a version</h2>
      <p>
        Fields and operations can be added: clients ignore fields they do not know. Removing a field, changing
        its type or changing what a route means takes a new major version.
      </p>
      <h2>How something is retired</h2>
      <p>
        The retirement of a version or an operation is announced here at least 90 days ahead, with a migration
        guide. Until then every answer links to this page with <code>rel="deprecation"</code>. From the
        announcement on, the answers it affects also carry <code>Deprecation</code> (RFC 9745: <code>@</code>{" "}
        and Unix seconds) and <code>Sunset</code> (RFC 8594: an HTTP date). The sunset is at least 90 days
        after the announcement and never before the deprecation. What worked goes on working through that
        time; an urgent security fix may restrict unsafe behaviour at once.
      </p>
      <p>
        This policy covers the {Object.keys(operations).length} operations of the public API, not private
        workspace routes.
      </p>
      <h2>Being retired now</h2>
      <Retirements register={Object.values(operations)} />
    </>
  );
}

function Retirements({ register }: { register: Operation[] }) {
  const retiring = register.filter((operation) => operation.retirement);
  if (retiring.length === 0) return <p>No public operation is deprecated.</p>;
  return (
    <ul>
      {retiring.map(({ path, methods, retirement }) => (
        <li key={path}>
          <code>
            {methods[0]} {path}
          </code>
          : announced {retirement?.announcedAt}, deprecated {retirement?.deprecatedAt}, gone from{" "}
          {retirement?.sunsetAt} on. <a href={retirement?.guide}>How to migrate</a>
        </li>
      ))}
    </ul>
  );
}
