/** Malicious bytes, one per character, and the expected responses. */
export type Shape = {
  name: string;
  bytes: string;
  /** The allowed statuses; {@link brokenOff} if the connection may end without a response. */
  statuses: number[];
  /** The number of responses: by default one; 0 if the client disconnects without waiting. */
  answers?: number;
  /** Whether the client ends its side of the connection after these bytes. */
  halfCloses?: boolean;
};

/** Used as a status: the request is not read to its end, and the response may be lost because of that. */
export const brokenOff = 0;

/** A page is rendered, or refused because of too many renders: concurrent ones, or of one address. */
const page = [200, 429, 503];
const noPage = [400, 404, 429, 503];

const crlf = "\r\n";
const host = "Host: localhost\r\n";
const request = (line: string, headers = "", body = "") => `${line} HTTP/1.1\r\n${host}${headers}\r\n${body}`;
const get = (target: string, headers = "") => request(`GET ${target}`, headers);
const health = (headers = "") => get("/api/health", headers);
const post = (target: string, body: string, headers = "") =>
  request(`POST ${target}`, `Content-Length: ${body.length}\r\n${headers}`, body);
const mcp = (body: string) => post("/mcp", body, "Content-Type: application/json\r\n");
const form = (target: string, body: string, headers = "") =>
  post(target, body, `Content-Type: application/x-www-form-urlencoded\r\n${headers}`);
const chunked = (target: string, framed: string, headers = "") =>
  request(`POST ${target}`, `Transfer-Encoding: chunked\r\n${headers}`, framed);
const json = "Content-Type: application/json\r\n";
const stop = "/api/email/unsubscribe?token=x";

const kilobytes = (count: number, text = "a") => text.repeat((count * 1000) / text.length);
const bytewise = (count: number) => "1\r\na\r\n".repeat(count) + end;
const end = "0\r\n\r\n";
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const jwt = (header: object) =>
  `${base64url(JSON.stringify(header))}.${base64url('{"sub":"x"}')}.${base64url("x")}`;
/** A proof of possession by a key that is none of those that proofs have, as long as it may be. */
const rsaProof = jwt({
  typ: "dpop+jwt",
  alg: "RS256",
  jwk: { kty: "RSA", n: kilobytes(2), e: kilobytes(2) },
});
const bearer = (token: string) => get("/api/entitlement", `Authorization: Bearer ${token}\r\n`);

/** All attacks, one per line. */
// biome-ignore format: a table is read by its columns: one attack a line.
export const shapes: Shape[] = [
  // Targets
  { name: "é in a query", bytes: health().replace("health", "health?x=\xe9"), statuses: [200] },
  { name: "raw bytes in an unsubscribe link", bytes: post(`${stop}&utm=\xc3\xa9`, "abc"), statuses: [400] },
  { name: "thousands of raw bytes in a query", bytes: get(`/api/health?${kilobytes(15, "\xe9")}`), statuses: [431] },
  { name: "requests with raw bytes in their queries, at once", bytes: get("/api/health?\xe9").repeat(100), statuses: [200] },
  { name: "NUL in a query", bytes: get("/api/health?\0\xe9"), statuses: [400] },
  { name: "NUL in a target", bytes: get("/api/\0"), statuses: [404] },
  { name: "an absolute target", bytes: get("http://evil.example/api/health"), statuses: [200] },
  { name: "an absolute target of another scheme", bytes: get("ftp://evil.example/api/health"), statuses: [400] },
  { name: "an authority as the target", bytes: get("evil.example:80"), statuses: [400] },
  { name: "* as the target of OPTIONS", bytes: request("OPTIONS *"), statuses: [204] },
  { name: "dots in a path", bytes: get(`/api/${"../".repeat(4000)}health`), statuses: [404] },
  { name: "slashes", bytes: get(`/api${kilobytes(15, "/")}health`), statuses: [404] },
  { name: "percent signs of percent signs", bytes: get(`/api/%${"25".repeat(7000)}61`), statuses: [404] },
  { name: "broken percent encodings", bytes: get(`/${kilobytes(15, "%zz")}`), statuses: noPage },
  { name: "a long path", bytes: get(`/docs/${kilobytes(15)}`), statuses: noPage },
  { name: "a long query", bytes: get(`/api/health?${kilobytes(15)}`), statuses: [200] },
  { name: "thousands of parameters", bytes: get(`/sign-in?${kilobytes(15, "a&")}`), statuses: page },

  // Methods and versions
  { name: "a long method", bytes: request(`${kilobytes(15, "A")} /api/health`), statuses: [405] },
  { name: "the beginning of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", statuses: [400] },
  { name: "the beginning of TLS", bytes: "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", statuses: [400] },
  { name: "NULs alone", bytes: kilobytes(15, "\0"), statuses: [400] },

  // Line ends
  { name: "lines that end in LF", bytes: health().replaceAll(crlf, "\n"), statuses: [200, 400] },
  { name: "lines that end in CR", bytes: health().replaceAll(crlf, "\r"), statuses: [400] },
  { name: "empty lines before a request", bytes: crlf.repeat(5000) + health(), statuses: [200] },
  { name: "a space before a request", bytes: ` ${health()}`, statuses: [400] },

  // Header fields
  { name: "a blank before the colon", bytes: health("X : y\r\n"), statuses: [400] },
  { name: "a folded header", bytes: health("X: y\r\n z\r\n"), statuses: [200, 400] },
  { name: "NUL in a header", bytes: health("X: \0\r\n"), statuses: [400] },
  { name: "CR in a header", bytes: health("X: a\rb\r\n"), statuses: [400] },
  { name: "bytes of 0x80 and above in a header", bytes: health(`X: ${kilobytes(15, "\xff")}\r\n`), statuses: [200] },
  { name: "headers with the names of a prototype", bytes: health("__proto__: x\r\nconstructor: x\r\n"), statuses: [200] },
  { name: "101 lines of headers", bytes: health("X: y\r\n".repeat(100)), statuses: [431] },
  { name: "64 KB of headers", bytes: health(`X: ${kilobytes(64)}\r\n`), statuses: [431, brokenOff] },
  { name: "a long Host", bytes: health().replace("localhost", kilobytes(15)), statuses: [200] },
  { name: "a Host of another to the MCP server", bytes: mcp("{}").replace("localhost", "evil.example"), statuses: [403] },

  // Lengths of bodies
  { name: "two lengths", bytes: post(stop, "abc", "Content-Length: 4\r\n"), statuses: [400] },
  { name: "a length and chunks", bytes: chunked(stop, end, "Content-Length: 4\r\n"), statuses: [400] },
  { name: "a negative length", bytes: request(`POST ${stop}`, "Content-Length: -1\r\n"), statuses: [400] },
  { name: "a length in hexadecimal", bytes: request(`POST ${stop}`, "Content-Length: 0x3\r\n", "abc"), statuses: [400] },
  { name: "a length past 64 bits", bytes: request(`POST ${stop}`, `Content-Length: ${"9".repeat(30)}\r\n`), statuses: [400] },
  { name: "a length of a terabyte", bytes: request(`POST ${stop}`, "Content-Length: 1099511627776\r\n"), statuses: [413] },
  { name: "a body for GET", bytes: get("/api/health", "Content-Length: 15000\r\n") + kilobytes(15), statuses: [200] },
  { name: "a request behind a body for GET", bytes: get("/api/health", `Content-Length: ${health().length}\r\n`) + health(), statuses: [200] },

  // Transfer codings and chunks
  { name: "an unknown transfer coding", bytes: request(`POST ${stop}`, "Transfer-Encoding: xchunked\r\n", end), statuses: [400] },
  { name: "chunks that are not the last coding", bytes: request(`POST ${stop}`, "Transfer-Encoding: chunked, identity\r\n", end), statuses: [400] },
  { name: "chunks in vertical tabs", bytes: request(`POST ${stop}`, "Transfer-Encoding: \x0bchunked\r\n", end), statuses: [400] },
  { name: "a chunk past 64 bits", bytes: chunked(stop, `${"F".repeat(17)}\r\n`), statuses: [400] },
  { name: "a chunk without its end", bytes: chunked(stop, "1\r\nabc\r\n"), statuses: [400] },
  { name: "a chunk of many zeros", bytes: chunked(stop, `${kilobytes(15, "0")}\r\n\r\n`), statuses: [400] },
  { name: "a chunk extension", bytes: chunked(stop, `0;${kilobytes(15)}\r\n\r\n`), statuses: [400] },
  { name: "an extension on each chunk", bytes: chunked(stop, `${"1;a=b\r\na\r\n".repeat(1000)}${end}`), statuses: [400] },
  { name: "too many chunks of one byte to an operation", bytes: chunked(stop, bytewise(6000)), statuses: [400, 413, brokenOff] },
  { name: "chunks of one byte to the MCP server", bytes: chunked("/mcp", bytewise(6000), json), statuses: [400, brokenOff] },
  { name: "chunks of one byte to a form", bytes: chunked("/sign-in/send", bytewise(6000), "Origin: http://localhost:3000\r\nCookie: office-probe=1\r\n"), statuses: [303, 400, 413, brokenOff] },
  { name: "chunks of one byte where no body belongs", bytes: chunked("/api/health", bytewise(6000)), statuses: [405, brokenOff] },
  { name: "chunks of one byte to a page", bytes: chunked("/sign-in", bytewise(6000)).replace("POST", "GET"), statuses: [...page, brokenOff] },
  { name: "a request behind the last chunk", bytes: chunked(stop, end) + health(), statuses: [200, 400], answers: 2 },
  { name: "a thousand trailers", bytes: chunked(stop, `0\r\n${"X: y\r\n".repeat(1000)}\r\n`), statuses: [400, 431] },
  { name: "a trailer that is a Host", bytes: chunked(stop, `0\r\n${host}Authorization: x\r\n\r\n`), statuses: [400] },

  // Connection upgrades
  { name: "Expect: 100-continue", bytes: post(stop, "abc", "Expect: 100-continue\r\n"), statuses: [400] },
  { name: "an odd Expect", bytes: health(`Expect: ${kilobytes(15)}\r\n`), statuses: [200] },
  { name: "an upgrade to a WebSocket", bytes: health("Connection: Upgrade\r\nUpgrade: websocket\r\n"), statuses: [200] },
  { name: "a list of connection options", bytes: health(`Connection: ${kilobytes(15, "host,")}x\r\n`), statuses: [200] },
  { name: "9 requests at once", bytes: health().repeat(9), statuses: [200], answers: 9 },
  { name: "100 requests at once", bytes: health().repeat(100), statuses: [200, 429], answers: 10 },
  { name: "100 pages at once", bytes: get("/sign-in").repeat(100), statuses: page, answers: 10 },
  { name: "thousands of requests behind a document", bytes: get("/llms-full.txt") + "GET / HTTP/1.1\r\n\r\n".repeat(3500), statuses: [200, 400, 429], answers: 10 },
  { name: "CONNECT behind pages", bytes: get("/sign-in").repeat(3) + request("CONNECT evil.example:443"), statuses: [...page, 405], answers: 4 },
  { name: "upgrades at once", bytes: health("Connection: Upgrade\r\nUpgrade: websocket\r\n").repeat(100), statuses: [200] },
  { name: "rubbish behind a request", bytes: `${health()}\0\x01garbage\r\n\r\n`, statuses: [200, 400], answers: 2 },

  // Credentials
  { name: "a long bearer token", bytes: bearer(kilobytes(15)), statuses: [401] },
  { name: "a token without a signature", bytes: bearer(jwt({ alg: "none" })), statuses: [401] },
  { name: "a token of an unknown key", bytes: bearer(jwt({ alg: "RS256", kid: "unknown" })), statuses: [401] },
  { name: "a token of a key elsewhere", bytes: bearer(jwt({ alg: "RS256", jku: "http://127.0.0.1:9/" })), statuses: [401] },
  { name: "a proof of a long RSA key, with a token of no one", bytes: get("/api/entitlement", `Authorization: DPoP ${jwt({ alg: "EdDSA" })}\r\nDPoP: ${rsaProof}\r\n`), statuses: [401] },
  { name: "a hundred proofs", bytes: get("/api/entitlement", `Authorization: DPoP x\r\n${`DPoP: ${jwt({ typ: "dpop+jwt" })}\r\n`.repeat(90)}`), statuses: [401] },
  { name: "two Authorizations", bytes: get("/api/entitlement", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), statuses: [401] },
  { name: "blanks in Authorization", bytes: get("/api/entitlement", `Authorization: Bearer ${kilobytes(15, " ")}x\r\n`), statuses: [401] },
  { name: "another scheme", bytes: get("/api/credits/balance", `Authorization: Basic ${kilobytes(15)}\r\n`), statuses: [401] },
  { name: "a long cookie", bytes: get("/api/entitlement", `Cookie: __session=${kilobytes(15)}\r\n`), statuses: [401] },
  { name: "thousands of cookies", bytes: get("/api/entitlement", `Cookie: ${kilobytes(15, "a=b; ")}\r\n`), statuses: [401] },
  { name: "a hundred sessions", bytes: get("/api/entitlement", `Cookie: ${"__session=x; ".repeat(100)}\r\n`), statuses: [401] },
  { name: "hundreds of one cookie to sign out", bytes: form("/sign-in/out", "", `Origin: http://localhost:3000\r\nCookie: ${kilobytes(14, "office-client=abcd; ")}\r\n`), statuses: [303] },
  { name: "hundreds of requests of one browser", bytes: get("/connect?request=x", `Cookie: office-request=${kilobytes(14, "x~")}\r\n`), statuses: [303, ...page] },
  { name: "a request of a browser with a long name", bytes: get("/oauth/resume?request=x", `Cookie: office-request=${kilobytes(14)}\r\n`), statuses: [302, 303, 400, 429] },
  { name: "a known browser with a long cookie", bytes: get("/docs/search?q=token", `Cookie: office-known=${kilobytes(14, "a.b~")}\r\n`), statuses: page },
  { name: "a long unsubscribe token", bytes: post(`/api/email/unsubscribe?token=v1.${kilobytes(15)}`, ""), statuses: [400] },
  { name: "thousands of unsubscribe tokens", bytes: post(`/api/email/unsubscribe?${kilobytes(15, "token=x&")}`, ""), statuses: [400] },
  { name: "an unsubscribe page with a long token", bytes: get(`/unsubscribe?token=${kilobytes(15, "v1.")}`), statuses: [400, ...page] },

  // Headers that the service parses
  { name: "a long Referer on a page", bytes: get("/waitlist", `Referer: http://localhost/${kilobytes(15)}\r\n`), statuses: page },
  { name: "a long Accept-Encoding on a document", bytes: get("/docs/api", `Accept-Encoding: ${kilobytes(15, "br;q=0,")}x\r\n`), statuses: [200] },
  { name: "thousands of tags on a document", bytes: get("/docs/api", `If-None-Match: ${kilobytes(15, '"a",')}x\r\n`), statuses: [200] },
  { name: "thousands of ranges on a document", bytes: get("/docs/api", `Range: bytes=${kilobytes(15, "0-1,")}0-\r\n`), statuses: [200] },
  { name: "headers of the framework's own", bytes: get("/sign-in", "Next-Router-State-Tree: %5B\r\nRSC: 1\r\nNext-Action: x\r\nX-Middleware-Subrequest: middleware\r\n"), statuses: page },
  { name: "a long X-Forwarded-For", bytes: health(`X-Forwarded-For: ${kilobytes(15, "1.2.3.4,")}1.2.3.4\r\n`), statuses: [200] },
  { name: "an X-Forwarded-For that is no address", bytes: health(`X-Forwarded-For: ${kilobytes(15, ":")}\r\n`), statuses: [200] },
  { name: "a long X-Request-Id", bytes: health(`X-Request-Id: ${kilobytes(15)}\r\n`), statuses: [200] },
  { name: "a long traceparent", bytes: health(`traceparent: 00-${kilobytes(15, "0")}\r\ntracestate: a=b\r\n`), statuses: [200] },
  { name: "a long API-Version", bytes: health(`API-Version: ${kilobytes(15, "1")}\r\n`), statuses: [400] },

  // Bodies of the MCP server
  { name: "nested arrays", bytes: mcp("[".repeat(60_000)), statuses: [400] },
  { name: "nested arrays that end", bytes: mcp("[".repeat(30_000) + "]".repeat(30_000)), statuses: [400] },
  { name: "a long number", bytes: mcp(`{"jsonrpc":"2.0","id":${"9".repeat(60_000)},"method":"ping"}`), statuses: [200, 400] },
  { name: "a long string of escapes", bytes: mcp(`{"jsonrpc":"2.0","id":"${"\\u0000".repeat(10_000)}","method":"ping"}`), statuses: [200, 400] },
  { name: "thousands of keys", bytes: mcp(`{${Array.from({ length: 6000 }, (_, n) => `"a${n}":0`).join(",")}}`), statuses: [400] },
  { name: "keys of a prototype", bytes: mcp('{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"a":1},"params":{"constructor":1}}'), statuses: [200, 400] },
  { name: "a batch", bytes: mcp(`[${Array(1000).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join(",")}]`), statuses: [400] },
  { name: "a message that is no UTF-8", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}`), statuses: [200, 400] },
  { name: "an unknown method", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"${"a".repeat(60_000)}"}`), statuses: [200, 400, 404] },
  { name: "thousands of arguments that a tool does not have", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{${Array.from({ length: 6000 }, (_, n) => `"a${n}":0`).join(",")}}}}`), statuses: [400] },
  { name: "thousands of arguments that are null", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{${Array.from({ length: 5000 }, (_, n) => `"a${n}":null`).join(",")}}}}`), statuses: [400] },
  { name: "thousands of values", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${Array(20_000).fill("{}").join(",")}]}}`), statuses: [400] },
  { name: "a long search with a tool", bytes: mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"query":"${"the limits of an api ".repeat(2800)}"}}}`), statuses: [200, 400] },

  // Forms, webhooks and the authorization server
  { name: "thousands of fields", bytes: form("/sign-in/send", "a&".repeat(2000), "Origin: http://localhost:3000\r\nCookie: office-probe=1\r\n"), statuses: [303] },
  { name: "a body past its bound", bytes: post(stop, "a".repeat(5000)), statuses: [413, brokenOff] },
  { name: "parts of a body", bytes: post(stop, "--x\r\n\r\n".repeat(500), "Content-Type: multipart/form-data; boundary=x\r\n"), statuses: [400] },
  { name: "an unsigned delivery", bytes: post("/hooks/clerk", "{".repeat(15_000), json), statuses: [400, brokenOff] },
  { name: "a delivery of many signatures", bytes: post("/hooks/clerk", "{}", `svix-id: a\r\nsvix-timestamp: 1\r\nsvix-signature: ${kilobytes(10, "v1,x ")}x\r\n`), statuses: [400] },
  { name: "an app with a long state", bytes: get(`/oauth/authorize?client_id=native&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&code_challenge=${"a".repeat(43)}&code_challenge_method=S256&state=${kilobytes(14)}`), statuses: [302, 303, 400, 413, 429] },
  { name: "an app with thousands of scopes", bytes: get(`/oauth/authorize?client_id=native&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&code_challenge=${"a".repeat(43)}&code_challenge_method=S256&scope=${kilobytes(14, "a+")}`), statuses: [302, 303, 400, 413, 429] },
  { name: "an app with a name that is long in JSON", bytes: post("/oauth/register", `{"client_name":"${'\\"'.repeat(1500)}","redirect_uris":["http://127.0.0.1/${"a".repeat(300)}"]}`, json), statuses: [201, 400, 404, 429] },
  { name: "an app of a metadata document within", bytes: get("/oauth/authorize?client_id=http%3A%2F%2F127.0.0.1%3A9%2F&response_type=code"), statuses: [400, 429] },
  { name: "an app that makes itself known", bytes: post("/oauth/register", `{"client_name":"${"a".repeat(3000)}","redirect_uris":["http://127.0.0.1/"]}`, json), statuses: [201, 400, 404, 413, 429] },
  { name: "a device that asks to be let in", bytes: form("/oauth/device", "client_id=native"), statuses: [400, ...page] },
  { name: "a code that was never given, with a proof of a long RSA key", bytes: form("/oauth/token", `grant_type=authorization_code&client_id=native&code=x&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&code_verifier=${"a".repeat(43)}`, `DPoP: ${rsaProof}\r\n`), statuses: [400, 429] },
  { name: "an app with claims within claims", bytes: get(`/oauth/authorize?client_id=native&response_type=code&claims=${'%7B"a":'.repeat(1500)}1`), statuses: [302, 303, 400, 413, 429, 431] },
  { name: "a code of a device that is long", bytes: form("/connect/device", `user_code=${"B".repeat(3000)}`, "Origin: http://localhost:3000\r\nCookie: office-probe=1\r\n"), statuses: [303] },
  { name: "a passkey whose answer is long", bytes: post("/sign-in/passkey", `{"id":"AAAA","response":{"signature":"${"A".repeat(15_000)}"}}`, `${json}Origin: http://localhost:3000\r\n`), statuses: [303, 400, 413, 429] },
  { name: "a delivery of 200 KB that no one has signed", bytes: post("/hooks/clerk", "a".repeat(200_000), `svix-id: a\r\nsvix-timestamp: ${Math.floor(Date.now() / 1000)}\r\nsvix-signature: v1,x\r\n`), statuses: [400, brokenOff] },
  { name: "a code that was never given", bytes: form("/oauth/token", `grant_type=authorization_code&client_id=native&code=${"a".repeat(3000)}`), statuses: [400, 429] },

  // Clients that disconnect
  { name: "a request, then half closed", bytes: health(), statuses: [200], halfCloses: true },
  { name: "pages, then half closed", bytes: get("/sign-in").repeat(9), statuses: page, answers: 9, halfCloses: true },
  { name: "half a body, then half closed", bytes: request(`POST ${stop}`, "Content-Length: 4000\r\n", kilobytes(2)), statuses: [400], halfCloses: true },
  { name: "half a head, then gone", bytes: health().slice(0, -2), statuses: [], answers: 0 },
  { name: "half a body, then gone", bytes: request(`POST ${stop}`, "Content-Length: 4000\r\n", kilobytes(2)), statuses: [], answers: 0 },
  { name: "half a chunk, then gone", bytes: chunked("/mcp", `FA0\r\n${kilobytes(2)}`, json), statuses: [], answers: 0 },
  { name: "a search, then gone before its turn", bytes: get(`/docs/search?q=${kilobytes(12, "limits+")}`), statuses: [], answers: 0 },
  { name: "a page asked for, then gone", bytes: get("/sign-in"), statuses: [], answers: 0 },
  { name: "a hundred requests, then gone", bytes: health().repeat(100), statuses: [], answers: 0 },
];
