import { initialEnv } from "@next/env";
import type { NextConfig } from "next";
import { loadEnvFiles } from "@/lib/config/env-files";
import { assetsVersion } from "@/lib/http/assets";
import { files } from "@/lib/http/register/files";

// Next has loaded them by now, and replaced what follows a `$`.
loadEnvFiles((complaint) => process.emitWarning(complaint), initialEnv);

const forGood = [{ key: "Cache-Control", value: "public, max-age=31536000, immutable" }];

const config: NextConfig = {
  poweredByHeader: false,
  // Our server logs each request.
  logging: { incomingRequests: false },
  // No page needs the optimizer, which would do work for strangers.
  images: { unoptimized: true },
  // `npm test` checks all types; a deployment has no test dependencies.
  typescript: { ignoreBuildErrors: true },
  // oidc-provider stores the names of its classes, which bundling shortens. The others are large: bundled, each entry
  // would have its own copy, 30 MB to compile at start instead of 5.
  serverExternalPackages: [
    "oidc-provider",
    "@simplewebauthn/server",
    "zod",
    "@redis/client",
    "@upstash/ratelimit",
    "@upstash/redis",
    "prom-client",
    "stripe",
  ],
  experimental: {
    // A program that sends `RSC` gets its response, not a 307. No cacheable response varies by it.
    validateRSCRequestHeaders: false,
    // Megabytes that production does not read.
    turbopackSourceMaps: process.env.NODE_ENV === "development",
    // A deployment is built once, without a cache.
    turbopackFileSystemCacheForBuild: false,
  },
  // `/api/health/` is another address: a 404, never a 308 (RFC 8058 forbids redirects on unsubscribe).
  skipTrailingSlashRedirect: true,
  headers: async () => [
    ...Object.values(files).map(({ path }) => ({
      source: path,
      has: [{ type: "query" as const, key: "v", value: assetsVersion() }],
      headers: forGood,
    })),
    // Another font file gets another name.
    { source: "/:font.woff2", headers: forGood },
  ],
};

export default config;
