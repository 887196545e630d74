import type { NextConfig } from "next";

/** What every page carries. API answers build theirs in `lib/api/headers.ts`. */
const pageHeaders = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "same-origin" },
  {
    key: "Content-Security-Policy",
    value: "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  },
];

const config: NextConfig = {
  poweredByHeader: false,
  // `npm test` checks the types of everything, once; a deployment builds without the tests' dependencies.
  typescript: { ignoreBuildErrors: true },
  // `/api/health/` is another address: a 404, never a 308 (RFC 8058 forbids redirects on unsubscribe).
  skipTrailingSlashRedirect: true,
  headers: async () => [{ source: "/((?!api/|api$|mcp/|mcp$).*)", headers: pageHeaders }],
};

export default config;
