import { bodyLimits, type QuotaName, quotas } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { makePortable } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { openApiDocument } from "@/lib/docs/openapi";
import { errorCatalogue } from "@/lib/http/errors";
import { allRoutes } from "@/lib/http/register/all-routes";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { perProcess } from "@/lib/per-process";

/** The resources in listing order: every document, then the same facts as data. */
export const resources = [
  ...documents.map((document) => ({
    uri: `corner-office:/${document.path}`,
    name: document.path,
    title: document.title,
    description: document.summary,
    mimeType: "text/markdown",
    read: () => makePortable(document.markdown()),
  })),
  {
    uri: "corner-office://errors",
    name: "errors",
    title: "Error codes, as data",
    description: "Every error code: its HTTP status, what it means and what to do next.",
    mimeType: "application/json",
    read: () => JSON.stringify(listErrors()),
  },
  {
    uri: "corner-office://limits",
    name: "limits",
    title: "Limits, as data",
    description: "Requests per window and client address, and the maximum bytes of a body.",
    mimeType: "application/json",
    read: () => JSON.stringify(listLimits()),
  },
  {
    uri: "corner-office://openapi.json",
    name: "openapi.json",
    title: "API description",
    description: "The HTTP API in OpenAPI 3.1: every operation, response, header and schema.",
    mimeType: "application/json",
    read: () => JSON.stringify(openApiDocument()),
  },
];

export type Resource = (typeof resources)[number];

/** The size of each resource in bytes, in listing order; it does not change while the process runs. */
export const resourceSizes = perProcess("sizes of resources", () =>
  resources.map(({ read }) => Buffer.byteLength(read())),
);

function listErrors() {
  const { appUrl } = settings();
  return {
    errors: Object.entries(errorCatalogue).map(([code, entry]) => ({
      code,
      ...entry,
      docs: `${appUrl}${pages.errors.path}#${code}`,
    })),
  };
}

function listLimits() {
  return {
    requests: Object.entries(quotas).map(([policy, { windowSeconds }]) => ({
      policy,
      addresses: [...new Set(allRoutes.values())]
        .filter(({ quota }) => quota === policy)
        .map(({ path }) => path),
      requests: settings().requestsPerMinute[policy as QuotaName],
      windowSeconds,
    })),
    bodies: [
      { addresses: [operations.unsubscribe.path], bytes: bodyLimits.unsubscribe },
      { addresses: mcpServer.paths, bytes: bodyLimits.mcp },
    ],
  };
}
