import type { Mistakes } from "@/tests/mutants/mutant";

export const connect: Mistakes = {
  "tests/app/connect-attacks.test.ts": {
    "app/(pages)/connect/forms.ts": {
      "an owner approves a request that another browser began": [
        'return listRequests(headers).find((name) => name === field("request"));',
        'return listRequests(headers).length > 0 ? field("request") : undefined;',
      ],
    },
    "lib/auth/tokens/credential.ts": {
      "a token for the API opens the MCP server": [
        "resource !== undefined && addresses()[resource].some((address) => audience.includes(address))",
        "resource !== undefined",
      ],
    },
    "lib/oauth/authorization-server.ts": {
      "an app need not prove that the code is its own": ["required: () => true", "required: () => false"],
      "an app renews its tokens after its session has ended": [
        "if (!session) return undefined;",
        "if (!session) return { ...account, session: { startsSession: false, endsAtMs: 4e12, lastNetwork: '' } };",
      ],
      "tokens are bound to whatever an app names": [
        "if (!resolveResource([resource])) throw",
        "if (!resource) throw",
      ],
    },
    "lib/oauth/authorization-request.ts": {
      "a request says what our address is": ['"dpop"];', '"dpop", "x-forwarded-host"];'],
    },
  },
  "tests/app/connect-tabs.test.ts": {
    "app/(pages)/connect/forms.ts": {
      "a click on one app's page approves another that a later tab began": [
        'return listRequests(headers).find((name) => name === field("request"));',
        "return listRequests(headers)[0];",
      ],
    },
    "lib/oauth/answered-requests.ts": {
      "a code is sent again after it was used": ["|| earlier.consumed !== undefined", ""],
      "a code that has expired is made anew": [
        ".set({ consumed_at_ms: nowMs, expires_at_ms: nowMs + oauthSeconds.code * 1000 })",
        ".set({ consumed_at_ms: nowMs })",
      ],
    },
    "lib/oauth/browser-requests.ts": {
      "a browser collects requests without end": ["const maxRequests = 5;", "const maxRequests = 50;"],
    },
  },
  "tests/app/connect-parallel.test.ts": {
    "lib/oauth/token-rotation.ts": {
      "a session of an agent that wakes late ends those of all": [
        'last !== undefined && last === network ? "used before" : { replayOf: use.grant_id }',
        "{ replayOf: use.grant_id }",
      ],
    },
    "lib/auth/sessions/session-network.ts": {
      "one journey is taken for a copy": ["size >= 2", "size >= 1"],
    },
  },
  "tests/app/connect-fooled.test.ts": {
    "lib/oauth/redirect-uri.ts": {
      "a stranger's app asks in our name": [
        'if (protocol === "https:") return hostname === own.hostname;',
        'if (protocol === "https:") return false;',
      ],
      "a dot at the end makes another host of one that the owner trusts":
        'if (hostname.endsWith(".")) return "has a dot at the end of its host";',
      "an answer goes to a host behind a user name":
        'if (username !== "" || password !== "") return "has a user name";',
      "an address is read otherwise than it is spelled": "if (withSlash(spelled) !== href) return canonical;",
    },
    "app/(pages)/connect/route.tsx": {
      "a link with a device's code shows what else waits": [
        'const isTyping = url.searchParams.has("user_code") || problem?.isTyped;',
        "const isTyping = problem?.isTyped;",
      ],
    },
    "lib/oauth/approval.ts": {
      "a cookie names a device's code that was not typed": [
        "code === undefined ? undefined : ofDevice(code)",
        "ofDevice(code ?? sealed)",
      ],
    },
    "lib/auth/readable-name.ts": {
      "a name turns the line round": '.replace(showsNothing, "")',
    },
    "lib/oauth/refused-request.ts": {
      "a registered client can have us send anyone to it": [
        "if (another !== undefined) return false;",
        "if (id) return true;",
      ],
    },
    "lib/oauth/endpoint.ts": {
      "an answer goes into a form of another page's": [
        '.some((mode) => mode !== "query")',
        '.includes("fragment")',
      ],
    },
  },
  "tests/app/connect.test.ts": {
    "lib/oauth/authorization-server.ts": {
      "the access token of an app that has revoked its refresh token works on":
        "if (exchange) await endAppSession(await store(), grantId, exchange.endsSessionAs, Date.now());",
      "a refresh token stays the same": ["=> !entities.RefreshToken?.jkt", "=> false"],
    },
    "lib/oauth/token-rotation.ts": {
      "a device has tokens and no session":
        "if (startsSession) await beginAppSession(transaction, grantId, nowMs);",
    },
    "lib/auth/sessions/session.ts": {
      "an app that is only approved is shown as connected": ".filter(({ kind }) => kind !== approvedKind)",
    },
    "lib/auth/sessions/session-end.ts": {
      "who ends all apps leaves one that is only approved": ["? [kind, approvedKind]", "? [kind]"],
    },
    "app/(pages)/connect/route.tsx": {
      "a link from elsewhere claims that something was approved": [
        "query.answered && !name",
        "query.away && !name",
      ],
    },
    "lib/oauth/approval.ts": {
      "a device is let in twice by one code": ["return !result && !accountId && !error;", "return !result;"],
    },
    "lib/oauth/adapter.ts": {
      "of two answers to a device the second counts": '    .where("payload", "=", JSON.stringify(before))\n',
    },
  },
  "tests/app/connect-refresh.test.ts": {
    "lib/oauth/adapter.ts": {
      "a refused request uses its token up": ["async consume(): Promise<void> {}", "consume = this.destroy;"],
    },
  },
  "tests/app/lifetimes.test.ts": {
    "lib/oauth/adapter.ts": {
      "expired state is found": '      .where("expires_at_ms", ">", nowMs)',
    },
    "lib/oauth/token-answer.ts": {
      "an app's last token outlives its session": [
        "Math.min(nowMs + oauthSeconds.accessToken * 1000, endsAtMs)",
        "nowMs + oauthSeconds.accessToken * 1000",
      ],
    },
    "lib/oauth/app-session.ts": {
      "an app that rests loses its token although its owner kept it":
        '  await extend("RefreshToken", oauthSeconds.refreshToken).where("grant_id", "=", grantId).execute();\n',
    },
  },
  "tests/app/connect-discovery.test.ts": {
    "lib/http/register/oauth.ts": {
      "a program in Python that was started again asks its owner anew":
        " || path === connectEndpoints.guessedToken.path",
    },
  },
  "tests/app/connect-documents.test.ts": {
    "lib/oauth/client-metadata-document.ts": {
      "the document of an app may name any address for the answer": [
        'typeof uri === "string" && !findRedirectFault(uri)',
        "true",
      ],
    },
    "lib/oauth/authorization-server.ts": {
      "an agent's document is fetched again while its owner thinks":
        "cacheDuration: { min: oauthSeconds.request, max: 24 * 60 * 60 },",
    },
    "lib/oauth/clients.ts": {
      "an agent that holds a token cannot renew it while the host of its document is away": [
        "return this.findHolder(id);",
        "return undefined;",
      ],
      "an agent that was taken off the list renews its token": [
        "credential?.clientId !== id || !settings().connectClients.includes(id)",
        "credential?.clientId !== id",
      ],
    },
    "lib/oauth/registered-clients.ts": {
      "an app that is not listed is asked about although apps may not register themselves":
        "!connectRegistration || ",
      "an app that is not listed is forgotten while its owner thinks": [
        "then(expires_at_ms)",
        "then(before)",
      ],
    },
    "lib/oauth/unlisted-documents.ts": {
      "an app whose document has just changed is refused for a quarter of an hour": "mayAnswer && ",
    },
    "lib/oauth/public-document.ts": {
      "an owner's app makes us fetch from our own network": [
        "found.filter(({ address }) => isPublic(address))",
        "found",
      ],
    },
    "lib/oauth/approval.ts": {
      "an app that is not listed gets its answer wherever it asks": [
        "client.redirectUriAllowed(redirect)",
        "true",
      ],
    },
  },
  "tests/app/connect-clients.test.ts": {
    "lib/oauth/authorization-server.ts": {
      "the document of an app is fetched from any address":
        "allowFetch: async (_: unknown, clientId: string) => connectClients.includes(clientId),",
    },
    "lib/oauth/operator-clients.ts": {
      "an app that was removed keeps what it was let in to":
        'await endSession(db, { by: "operator", what: "connect remove" }, sessionId, nowMs);',
    },
    "lib/oauth/redirect-uri.ts": {
      "an answer goes to any scheme": ["ofSystems.test(protocol)", "false"],
    },
  },
  "tests/lib/config/settings.test.ts": {
    "lib/config/client-documents.ts": {
      "the list of documents has addresses of this machine": "isName && ",
    },
  },
  "tests/lib/mcp/authorization.test.ts": {
    "lib/oauth/endpoint.ts": {
      "an agent asks its owner anew in an outage": ['"temporarily_unavailable"', '"server_error"'],
    },
  },
  "tests/app/connect-registration.test.ts": {
    "lib/oauth/token-answer.ts": {
      "the tokens of an app that registered are too long for what keeps them": [
        "!containsItself(client_id) && ",
        "",
      ],
    },
    "lib/oauth/endpoint.ts": {
      "an app ends the session of another by its access token": [
        'grant.clientId !== form.get("client_id")',
        "!grant.clientId",
      ],
    },
    "lib/oauth/clients.ts": {
      "a registered app stays known after registration is switched off": [
        "settings().connectRegistration || !isRegistered(id)",
        "true",
      ],
    },
    "lib/runtime/seal.ts": {
      "a client that was removed comes back under another spelling of its id":
        'if (bytes.toString("base64url") !== sealed) return undefined;',
    },
    "lib/oauth/registered-clients.ts": {
      "a client that was removed is let in until its id expires": [
        "if (!row) return openClientId",
        'if (row?.kind !== "Client") return openClientId',
      ],
      "a client that no owner let in is known for ever": [
        "client && client.forgottenAtMs > nowMs ? client : undefined",
        "client",
      ],
      "an app whose owner comes back after a day is unknown": [
        "(addedAtMs ?? 0) + oauthSeconds.registeredClient",
        "(addedAtMs ?? 0) + oauthSeconds.unapprovedDocument",
      ],
      "an approved app is forgotten after minutes": [
        "nowMs + oauthSeconds.registeredClient * 1000",
        "nowMs + oauthSeconds.registeredClient",
      ],
    },
  },
  "tests/lib/oauth/token-rotation.test.ts": {
    "lib/oauth/token-rotation.ts": {
      "of two that redeem a code at once both do": 'if (!firstUse) return "used before";',
      "a token that is used again and again can be used again for good": [
        "nowMs - (use.consumed_at_ms ?? nowMs) >= oauthSeconds.refreshTokenReuse * 1000",
        "false",
      ],
      "a stolen token can be used after the app has used its successor": [
        "successors.some(({ consumed_at_ms }) => consumed_at_ms !== null)",
        "false",
      ],
      "the session goes on after a replay": 'await endAppSession(db, outcome.replayOf, "app replay", nowMs);',
      "a repeated request starts another branch of tokens": "if (stored) return { successor: stored };",
    },
    "lib/oauth/sweep.ts": {
      "an app that renews all the time pushes out the tokens of others": [
        "'RefreshToken' and grant_id",
        "'RefreshToken' or grant_id",
      ],
    },
  },
  "tests/lib/oauth/sweep.test.ts": {
    "lib/db/old-rows.ts": {
      "all that has expired is deleted at once": ["const batchRows = 100;", "const batchRows = 100_000;"],
    },
  },
  "tests/app/connect-floods.drill.ts": {
    "lib/oauth/adapter.ts": {
      "an approved grant is evicted like a stranger's": [
        ".set({ payload: JSON.stringify(after), grant_id: grantIdOf(after) })",
        ".set({ payload: JSON.stringify(after) })",
      ],
    },
    "lib/db/old-rows.ts": {
      "the newest requests make room for the oldest": ['.orderBy(column, "desc")', ".orderBy(column)"],
    },
    "lib/oauth/authorization-request.ts": {
      "one request has us keep all that it says": ["> requestBytes", "> 100 * requestBytes"],
    },
  },
  "tests/lib/mcp/tools.test.ts": {
    "lib/mcp/handler.ts": {
      "ChatGPT is not told to have its user sign in, as long as it has no token": [
        "{ ...refused, tokenWasSent: true }",
        "refused",
      ],
    },
  },
};
