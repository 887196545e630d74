import type { NextConfig } from "next";

/**
 * What every page carries. The build adds the Content-Security-Policy (`lib/pages/hash-inline-scripts.ts`). Answers of
 * the API and of the webhooks build theirs in `lib/api/headers.ts`.
 */
const pageHeaders = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "same-origin" },
];

const documentPaths = "/:path(docs|docs/(?!search)[a-z/-]+)";

/** Next would let a proxy keep a document for a year, and it names scripts that are gone after an upgrade. */
const documentHeaders = [
  { key: "Cache-Control", value: "public, no-cache" },
  { key: "Link", value: '</:path.md>; rel="alternate"; type="text/markdown"' },
];

/** Where a program that knows only our address finds the rest (RFC 9727 §3, RFC 8631). */
const discovery = [
  '</.well-known/api-catalog>; rel="api-catalog"',
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
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
    { source: "/", headers: [{ key: "Link", value: discovery.join(", ") }] },
    // Its address holds a token.
    { source: "/unsubscribe", headers: [{ key: "Referrer-Policy", value: "no-referrer" }] },
    { source: documentPaths, headers: documentHeaders },
  ],
  rewrites: async () => [{ source: `${documentPaths}.md`, destination: "/markdown/:path" }],
  // Read where Clerk's code is bundled: neither its middleware nor its components report on anybody.
  env: { NEXT_PUBLIC_CLERK_TELEMETRY_DISABLED: "1" },
};

export default config;
