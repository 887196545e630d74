import type { NextConfig } from "next";
import { assetsVersion } from "@/lib/http/assets";
import { clerkRoutes, clerkSignsIn, documentPages, files, markdownPath } from "@/lib/http/pages";

const forGood = [{ key: "Cache-Control", value: "public, max-age=31536000, immutable" }];

const config: NextConfig = {
  poweredByHeader: false,
  // The front server says each request once.
  logging: { incomingRequests: false },
  // No page has an image to optimize, and an optimizer does work for whoever asks.
  images: { unoptimized: true },
  // `npm test` checks the types of everything, once; a deployment builds without the tests' dependencies.
  typescript: { ignoreBuildErrors: true },
  // oidc-provider knows what it keeps by the names of its classes, which bundling shortens. The others are large, and
  // bundled each entry would bring a copy of its own: 30 MB to compile at the start instead of 5.
  serverExternalPackages: [
    "oidc-provider",
    "zod",
    "@redis/client",
    "@upstash/ratelimit",
    "@upstash/redis",
    "prom-client",
  ],
  experimental: {
    // A program that sends `RSC` gets its answer, not a 307. No answer that a shared cache keeps varies by it.
    validateRSCRequestHeaders: false,
    // An entry is loaded when it is first asked for, so that the process is there in a third of the time.
    preloadEntriesOnStart: false,
    // 36 MB of a deployment that nobody reads: the process that renders pages runs without.
    turbopackSourceMaps: process.env.NODE_ENV === "development",
    // A deployment is built once, from nothing.
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
    // Other letters come under another name.
    { source: files.serif.path, headers: forGood },
  ],
  rewrites: async () => ({
    beforeFiles: Object.entries(clerkRoutes).map(([source, destination]) => ({
      source,
      has: [{ type: "header" as const, key: clerkSignsIn, value: "yes" }],
      destination,
    })),
    afterFiles: Object.values(documentPages).map(({ path }) => ({
      source: markdownPath(path),
      destination: `/markdown${path}`,
    })),
    fallback: [],
  }),
  env: {
    // Read where Clerk's code is bundled: neither its middleware nor its components report on anybody.
    NEXT_PUBLIC_CLERK_TELEMETRY_DISABLED: "1",
  },
};

export default config;
