import type { NextConfig } from "next";
import { documentPages, markdownPath, pages, publications } from "@/lib/api/pages";

/**
 * What every page carries. The build adds the Content-Security-Policy (`lib/pages/finish-build.ts`). Answers of
 * the API and of the webhooks build theirs in `lib/api/headers.ts`.
 */
const pageHeaders = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "same-origin" },
];

const documents = Object.values(documentPages).map(({ path }) => ({ path, markdown: markdownPath(path) }));

/** Next would let a proxy keep a document for a year, and it names scripts that are gone after an upgrade. */
const documentHeaders = (markdown: string) => [
  { key: "Cache-Control", value: "public, no-cache" },
  { key: "Link", value: `<${markdown}>; rel="alternate"; type="text/markdown"` },
];

/** Where a program that knows only our address finds the rest (RFC 9727 §3, RFC 8631). */
const discovery = [
  `<${publications.apiCatalog.path}>; rel="api-catalog"`,
  `<${publications.openApi.path}>; rel="service-desc"; type="application/json"`,
  `<${pages.quickStart.path}>; rel="service-doc"; type="text/html"`,
];

const config: NextConfig = {
  poweredByHeader: false,
  // `npm test` checks the types of everything, once; a deployment builds without the tests' dependencies.
  typescript: { ignoreBuildErrors: true },
  // `/api/health/` is another address: a 404, never a 308 (RFC 8058 forbids redirects on unsubscribe).
  skipTrailingSlashRedirect: true,
  experimental: { globalNotFound: true },
  headers: async () => [
    { source: "/((?!(?:api|mcp|hooks)(?:/|$)).*)", headers: pageHeaders },
    { source: pages.front.path, headers: [{ key: "Link", value: discovery.join(", ") }] },
    // Its address holds a token.
    { source: pages.unsubscribe.path, headers: [{ key: "Referrer-Policy", value: "no-referrer" }] },
    ...documents.map(({ path, markdown }) => ({ source: path, headers: documentHeaders(markdown) })),
  ],
  rewrites: async () =>
    documents.map(({ path, markdown }) => ({ source: markdown, destination: `/markdown${path}` })),
  // Read where Clerk's code is bundled: neither its middleware nor its components report on anybody.
  env: { NEXT_PUBLIC_CLERK_TELEMETRY_DISABLED: "1" },
};

export default config;
