import type { Mistakes } from "@/tests/mutants/mutant";

export const caching: Mistakes = {
  "tests/app/api/site-banner.test.ts": {
    "lib/http/response.ts": {
      "a refusal may be kept by shared caches": ["isFresh ? route?.caching : undefined", "route?.caching"],
      "shared caches keep the request id of one client": [
        'if (!caching.startsWith("public")) fields',
        'if (caching !== "") fields',
      ],
    },
    "lib/http/default-headers.ts": {
      "caches are not told that the version matters": ['? "API-Version"', "? undefined"],
    },
    "lib/site-banner.ts": {
      "the age of the notice is told in milliseconds": [
        "(clockMs - (copy().readAtMs ?? clockMs)) / 1000",
        "clockMs - (copy().readAtMs ?? clockMs)",
      ],
      "every visitor waits for a store that is away": "held.readAgainAtMs = clockMs + retryAfterMs;",
    },
  },
  "tests/lib/site-banner.test.ts": {
    "lib/site-banner.ts": {
      "a notice shows at its very end": ["nowMs >= (banner.ends_at_ms", "nowMs > (banner.ends_at_ms"],
      "the copy of the notice is kept for hours": [
        "held.readAgainAtMs = clockMs + copyLivesMs",
        "held.readAgainAtMs = clockMs + copyLivesMs * 1000",
      ],
    },
  },
  "tests/app/pages/home-sessions.test.ts": {
    "lib/http/response.ts": {
      "a copied token may be kept": ['?? "no-store"', '?? "private"'],
    },
  },
  "tests/app/api/entitlement.test.ts": {
    "lib/http/register/operations.ts": {
      "a browser keeps an entitlement": ['caching: "private, no-store",', 'caching: "private, max-age=60",'],
    },
  },
  "tests/app/pages.test.ts": {
    "lib/http/static-files.ts": {
      "a file without its version is kept for good": ['extension === ".woff2" ||', "extension ||"],
    },
    "app/(pages)/html-page.tsx": {
      "a page without the notice that its reader put away is kept for others": [
        'isOrdinary ? "public" : "private"',
        '"public"',
      ],
    },
    "lib/server/page-cache.ts": {
      "a signed-in owner is shown the sign-in link":
        'hasSessionCookie(headers) && cookiePair("__session", "x"),',
    },
  },
  "tests/lib/server/page-cache.test.ts": {
    "lib/http/etag.ts": {
      "a client with an older version is told that it is the newest": [
        '["*", etag].includes(',
        '["*", etag, tag.trim()].includes(',
      ],
    },
    "lib/server/page-cache.ts": {
      "the page of one who is signed in is kept for all":
        "if (!isShared(route, search, headers)) return undefined;",
    },
    "lib/server/cached-response.ts": {
      "a 404 is told as not modified": ["status === 200 && matchesEtag(", "matchesEtag("],
    },
  },
  "tests/lib/mcp/handler.test.ts": {
    "lib/http/cors.ts": {
      "a page elsewhere does not read from the MCP server how long to wait": [
        "RateLimit-Remaining, Retry-After, WWW-Authenticate, DPoP-Nonce",
        "RateLimit-Remaining, WWW-Authenticate, DPoP-Nonce",
      ],
      "a page elsewhere may not send the MCP server a token": [
        '"Authorization, DPoP, Content-Type, Accept, ',
        '"DPoP, Content-Type, Accept, ',
      ],
    },
  },
};
