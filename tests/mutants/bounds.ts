import type { Mistakes } from "@/tests/mutants/mutant";

export const bounds: Mistakes = {
  "tests/lib/http/checks/body.test.ts": {
    "lib/http/checks/body.ts": {
      "a body may be a byte over its bound": ["length > maxBytes)", "length > maxBytes + 1)"],
      "a body may come byte by byte, however long it is": ["pieces > bodyPieces.any +", "pieces < 0 +"],
    },
  },
  "tests/lib/server/client-errors.test.ts": {
    "lib/server/client-errors.ts": {
      "a second answer is written into one that has begun": "else if (latest.headersSent) socket.destroy();",
    },
    "lib/server/staged-close.ts": {
      "a connection that no one closes stays open after its last answer": [
        "const deadline = setTimeout(() => socket.destroy(), discardBounds.withinMs);",
        "const deadline = setTimeout(() => {}, discardBounds.withinMs);",
      ],
    },
    "lib/server/header-limits.ts": {
      "a request may name two hosts": ["hosts !== 1 &&", "hosts < 1 &&"],
      "a head has as many lines as it likes": " || rawHeaders.length > 2 * headBounds.lines",
    },
  },
  "tests/lib/server/staged-close.drill.ts": {
    "lib/server/staged-close.ts": {
      "bytes after the last answer are read without a limit":
        "if (discarded > discardBounds.bytes) socket.destroy();",
    },
    "lib/server/bounded-server.ts": {
      "a connection is closed while its client still sends":
        "socket.destroySoon = () => closeInStages(socket);",
    },
  },
  "tests/lib/server/request-deadline.test.ts": {
    "lib/server/connections.ts": {
      "a client that never reads is never disconnected": "!isOverdue && ",
    },
  },
  "tests/lib/http/retirement.test.ts": {
    "lib/http/retirement.ts": {
      "a retirement without notice is announced": [
        "sunset < announced + minNoticeDays * dayMs",
        "sunset < announced",
      ],
    },
  },
  "tests/lib/runtime/log.test.ts": {
    "lib/runtime/log-format.ts": {
      "the log keeps the row that a driver quotes": [
        "return {\n    name,",
        "return {\n    ...failure,\n    name,",
      ],
    },
  },
  "tests/app/pages/sign-in.test.ts": {
    "lib/http/checks/body.ts": {
      "a form takes more than it says": ["takes ? bodyLimits[takes] : 0", "bodyLimits.mcp"],
    },
  },
  "tests/lib/runtime/own-turn.test.ts": {
    "lib/runtime/own-turn.ts": {
      "all pages that wait are rendered in one turn of the event loop": [
        "places.last.then(() => new Promise((resolve) => setImmediate(resolve)))",
        "new Promise<void>((resolve) => setImmediate(resolve))",
      ],
    },
  },
  "tests/lib/server/joined-message.test.ts": {
    "lib/server/joined-message.ts": {
      "an unread body is kept chunk by chunk": [
        "this.joined.length >= flushAtBytes",
        "this.joined.length > 0",
      ],
    },
  },
  "tests/lib/server/dear-requests.drill.ts": {
    "lib/oauth/authorization-request.ts": {
      "the authorization server reads as many parameters as are sent": [
        "{uid}`;",
        "{uid}?`.concat(search.slice(1));",
      ],
    },
  },
  "tests/app/hooks/resend.test.ts": {
    "lib/http/hook-events.ts": {
      "the body of a delivery is read where none can be verified":
        "    requireKey: () => void requireKey(),\n",
    },
  },
  "tests/lib/mcp/handler.test.ts": {
    "lib/http/register/mcp.ts": {
      "a message to the MCP server may be as long as a webhook": ['takes: "mcp"', 'takes: "webhook"'],
    },
    "lib/http/checks/host.ts": {
      "a page elsewhere talks to the MCP server of its visitor": [
        "!isLoopback(hostnameOf(origin))",
        'origin === ""',
      ],
      "the MCP server answers under any name": ["host !== ours && !isLoopback(host)", 'host === ""'],
    },
  },
  "tests/lib/server/connections.test.ts": {
    "lib/server/answer-writer.ts": {
      "a connection goes on with the body of the request before":
        "if (incoming.hasBody && !incoming.complete) outgoing.shouldKeepAlive = false;",
    },
    "lib/server/requests-in-work.ts": {
      "one network keeps all connections in work": ["count >= maxRequestsInWork", "count < 0"],
    },
    "lib/server/connections.ts": {
      "a connection with a request in work is closed for a new one": [
        "if (outgoing.socket) idle.delete(socket);",
        "if (!outgoing.socket) idle.delete(socket);",
      ],
      "a connection that was answered counts as in work for ever":
        "if (this.open.has(socket)) idle.add(socket);",
    },
  },
  "tests/app/unsubscribe.test.ts": {
    "lib/http/default-headers.ts": {
      "the token of an unsubscribe link is told to the next site": [
        'path === pages.unsubscribe.path ? "no-referrer"',
        'path === "/" ? "no-referrer"',
      ],
    },
  },
  "tests/app/pages.test.ts": {
    "app/(pages)/notice/dismiss/route.ts": {
      "a notice that is put away leads to another site": [
        "? before : pages.front.path",
        "? before.slice(settings().appUrl.length) : pages.front.path",
      ],
      "a page dismisses a notice that it did not show": ['["", notice.id].includes(field("notice"))', "true"],
    },
    "lib/site-banner.ts": {
      "the second outage in the same words is not seen": "announced_at_ms: nowMs",
    },
  },
  "tests/app/pages/waitlist.test.ts": {
    "lib/accounts/joining/waitlist.ts": {
      "the waitlist has no ceiling": [
        "(await countWaiting(db)) >= waitlistBounds.waiting",
        "(await countWaiting(db)) < 0",
      ],
      "an email that is on the waitlist is answered sooner": [
        'conflict.column("email").doUpdateSet({ mailbox_hash })',
        'conflict.column("email").doNothing()',
      ],
    },
    "lib/mail/waitlist-confirmation.ts": {
      "a stranger floods a mailbox with the waitlist's mails, by spelling its address anew": [
        '.where("mailbox_hash", "=", hashMailbox(to))',
        '.where("email", "=", to)',
      ],
    },
    "lib/rate-limit/client-address.ts": {
      "one IPv6 customer joins the waitlist as 65,536": [
        "groupAddress(address, 48)",
        "groupAddress(address)",
      ],
    },
  },
  "tests/lib/http/router.test.ts": {
    "lib/http/program-path.ts": {
      "an address under /mcp in another spelling is a page's": ["(?:api|mcp)(?!", "(?:api)(?!"],
    },
  },
  "tests/app/pages/form-limits.test.ts": {
    "lib/http/checks/body.ts": {
      "a NUL in a form reaches the store": [
        '(!body.includes(0) && !body.includes("%00"))',
        "!body.includes(0)",
      ],
    },
  },
  "tests/app/api/health.test.ts": {
    "lib/http/call.ts": {
      "a client writes into the log by its request id": ["Characters}}$`", "Characters}}`"],
    },
  },
  "tests/lib/http/call.test.ts": {
    "lib/http/request-log.ts": {
      "a token that was pasted into an address is logged": [
        "if (allRoutes.has(bare)) return bare;",
        "if (bare) return bare;",
      ],
    },
  },
  "tests/lib/docs/search.test.ts": {
    "lib/docs/search.ts": {
      "a search of a thousand words costs a thousand searches": [
        "[...new Set(withoutFillers(meant))].slice(0, maxTerms)",
        "[...new Set(withoutFillers(meant))]",
      ],
    },
  },
};
