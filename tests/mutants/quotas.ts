import type { Mistakes } from "@/tests/mutants/mutant";

export const quotas: Mistakes = {
  "tests/lib/rate-limit/local-counter.test.ts": {
    "lib/rate-limit/local-counter.ts": {
      "one request more than the limit is accepted": ["- recent.first) - 1", "- recent.first)"],
      "the number of keys has no bound": ["this.bytes > this.maxBytes", "this.bytes > 100 * this.maxBytes"],
      "a refusal is counted too": ["if (recent && decision.allowed)", "if (recent)"],
    },
  },
  "tests/lib/rate-limit/client-address.test.ts": {
    "lib/rate-limit/client-address.ts": {
      "the entry that a client can send is believed": [".at(-trustedProxyHops)", ".at(0)"],
      "each address of a household's IPv6 network has a quota of its own": [
        ".slice(0, Math.ceil(prefixBits / 16))",
        ".slice(0, 8)",
      ],
    },
  },
  "tests/lib/http/counter-of-instances.drill.ts": {
    "lib/rate-limit/rate-limit.ts": {
      "MCP goes uncounted while the counter store is away": ['name === "health" ?', "name ?"],
    },
  },
  "tests/app/api/health.test.ts": {
    "lib/http/errors.ts": {
      "a refusal has no Retry-After": [
        'headers: { "retry-after": String(seconds) }, message',
        "headers: {}, message",
      ],
    },
    "lib/http/checks/limits.ts": {
      "a spent quota refuses no one": ["if (!refused) return undefined;", "return undefined;"],
    },
    "lib/http/handler.ts": {
      "any version is served": ["isAsked: ({ isVersioned }) => isVersioned", "isAsked: () => false"],
    },
    "lib/http/checks/version.ts": {
      "a version that begins with 1 is served": ["/^[ \\t]*1[ \\t]*$/", "/^[ \\t]*1/"],
    },
  },
  "tests/lib/mcp/quota.test.ts": {
    "lib/http/register/mcp.ts": {
      "MCP is not counted": 'quota: "mcp",',
    },
    "lib/rate-limit/rate-limit.ts": {
      "health and MCP spend one quota": [
        "counter(name, this.limit, windowSeconds)",
        'counter("all", this.limit, windowSeconds)',
      ],
    },
  },
  "tests/app/pages/sign-in-attacks.test.ts": {
    "lib/rate-limit/client.ts": {
      "a neighbour uses up the forms of a browser that signed in before": ["if (browser)", "if (!client)"],
    },
    "lib/http/known-browser.ts": {
      "a browser stays known whose person was erased": ["(isThere ?", "(isThere || id ?"],
    },
    "lib/config/limits.ts": {
      "where clients cannot be told apart, one of them closes the forms for all": [
        "forms: { perClient: 30, perNetwork: 300, inAll: 6000",
        "forms: { perClient: 30, perNetwork: 300, inAll: 30",
      ],
    },
  },
  "tests/app/pages/html-page.test.ts": {
    "lib/config/limits.ts": {
      "an address has as many pages rendered as it likes": [
        "pages: { perClient: 300",
        "pages: { perClient: 300_000",
      ],
    },
  },
  "tests/app/connect.test.ts": {
    "lib/oauth/exchange-limit.ts": {
      "an address asks the authorization server as often as it likes": [
        'requireWithinLimit(call, "connect");',
        "undefined;",
      ],
    },
  },
  "tests/app/connect-floods.drill.ts": {
    "lib/oauth/exchange-limit.ts": {
      "strangers use up what an admitted app may ask": ["if (!live) {", "if (live || !live) {"],
    },
    "lib/http/register/oauth.ts": {
      "an address registers as many apps as it likes": 'limit: "registrations", ',
    },
  },
  "tests/lib/rate-limit/rate-limit.test.ts": {
    "lib/rate-limit/rate-limit.ts": {
      "those who ask for much leave nothing to newcomers": [
        "[...ofNewcomers, ...ofAll] : ofAll",
        "[...ofNewcomers, ...ofAll] : [...ofAll, ...ofNewcomers]",
      ],
      "what is refused makes keys": ['(await decide("peek")) ?? ', ""],
    },
  },
  "tests/lib/rate-limit/shared-counter.drill.ts": {
    "lib/rate-limit/exact-window.ts": {
      "a silent client stays in the shared counters for ever": ['redis.call("PEXPIRE", key, window)\n', "\n"],
    },
    "lib/rate-limit/shared-counter.ts": {
      "the log quotes what a counter store answered": [
        "failure instanceof Error ? failure.name : typeof failure",
        "failure instanceof Error ? failure.message : typeof failure",
      ],
    },
  },
  "tests/lib/rate-limit/hosted-agents.test.ts": {
    "lib/mcp/handler.ts": {
      "all owners behind a hosted agent spend one quota": [
        "caller.account.id}` : undefined",
        "caller.is}` : undefined",
      ],
    },
  },
};
