import type { ServerResponse } from "node:http";
import { afterAll } from "vitest";
import { serve } from "@/tests/support/loopback";

type Answer = (response: ServerResponse) => void;

const yes = { ok: true, status: "licensed", recheckAfterSeconds: 600 };
const tokens = { access_token: "another", refresh_token: "another", expires_in: 3600 };
const page = "<html>Sign in to the hotel's network</html>";

const text =
  (status: number, body: string | undefined, headers = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body);
const json = (status: number, body: unknown, headers = {}) =>
  text(status, JSON.stringify(body), { "content-type": "application/json", ...headers });
/** Bytes, and then the end of the connection. */
const cut =
  (...lines: string[]): Answer =>
  ({ socket }) =>
    socket?.end(lines.join("\r\n"));
/** The same again and again, until the client leaves or a second has passed. */
const again =
  (start: string, part: string, everyMs: number): Answer =>
  ({ socket }) => {
    socket?.on("error", () => {}).write(start);
    const timer = setInterval(() => socket?.write(part), everyMs);
    const stop = setTimeout(() => socket?.destroy(), 3000);
    socket?.on("close", () => {
      clearInterval(timer);
      clearTimeout(stop);
    });
  };

const statuses = [
  200, 201, 203, 206, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 407, 408, 410, 413, 421,
  429, 451, 500, 501, 502, 503, 504, 511,
];
const redirects = [300, 301, 302, 303, 307, 308];
const elsewhere = { location: "/elsewhere" };

const bodies: [name: string, answer: Answer][] = [
  ...statuses.map((status): [string, Answer] => [
    `${status} HTML`,
    text(status, page, { "content-type": "text/html", ...(redirects.includes(status) && elsewhere) }),
  ]),
  ["204", text(204, undefined)],
  ["304", text(304, undefined)],
  ["200 nothing", text(200, "")],
  ...[null, [], [1], "text", 42, true, {}].flatMap((body): [string, Answer][] => [
    [`200 ${JSON.stringify(body)}`, json(200, body)],
    [`403 ${JSON.stringify(body)}`, json(403, body)],
  ]),
  ...[201, 203, 301, 302, 303, 307, 308, 400, 401, 403, 404, 429, 500, 503].map(
    (status): [string, Answer] => [
      `${status} with a yes and tokens`,
      json(status, { ...yes, ...tokens }, redirects.includes(status) ? elsewhere : {}),
    ],
  ),
  ...[false, null, "true", 1, []].map((ok): [string, Answer] => [
    `200 with ok ${JSON.stringify(ok)}`,
    json(200, { ...yes, ok }),
  ]),
  ...[undefined, null, 0, -60, "600", true, [], {}].map((recheckAfterSeconds): [string, Answer] => [
    `200 with recheckAfterSeconds ${JSON.stringify(recheckAfterSeconds)}`,
    json(200, { ...yes, recheckAfterSeconds }),
  ]),
  ["200 with tokens that are empty", json(200, { access_token: "", refresh_token: "", expires_in: 3600 })],
  ["200 with tokens that are none", json(200, { access_token: 1, refresh_token: ["a"], expires_in: "soon" })],
  ["200 with half the tokens", json(200, { access_token: "another" })],
  ["200 with a refusal's error", json(200, { error: "invalid_grant" })],
  ["302 with a refusal", json(302, { ok: false, error: { code: "not_configured" } }, elsewhere)],
  ["307 with a refusal of the token", json(307, { error: "invalid_grant" }, elsewhere)],
  ["401 with an error that is a text", json(401, { error: "invalid_grant" })],
  ["500 with an error that is null", json(500, { error: null })],
  ...[[], {}, { code: null }, { code: 5 }, { code: "" }, { code: {} }].map((error): [string, Answer] => [
    `403 with the error ${JSON.stringify(error)}`,
    json(403, { ok: false, error }),
  ]),
  ["200 cut short", cut("HTTP/1.1 200 OK", "Content-Length: 500", "", `{"ok":true,"status":"licensed",`)],
  ["200 cut within a chunk", cut("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "ff", `{"ok":tr`)],
  ["200 with more after the JSON", text(200, `${JSON.stringify(yes)} <script>`)],
  ["200 with a list without end", text(200, "[".repeat(60_000))],
  ["200 with bytes that are no text", (response) => response.end(Buffer.alloc(400, 0xff))],
  ["200 that says gzip and is none", json(200, "text", { "content-encoding": "gzip" })],
  ["a yes of a megabyte", json(200, { ...yes, ...tokens, more: "x".repeat(1_000_000) })],
  ["what is no HTTP", cut("220 mail.example.com ESMTP", "")],
  ["a connection that ends", ({ socket }) => socket?.destroy()],
  ["a head that ends", cut("HTTP/1.1 200 OK", "Content-Type: appl")],
  ["a head without end", again("HTTP/1.1 200 OK\r\n", `${"X-More: more\r\n".repeat(200)}`, 5)],
  ["a body without end", again("HTTP/1.1 200 OK\r\n\r\n", `${" ".repeat(60_000)}`, 5)],
  ["a body in drips", again("HTTP/1.1 200 OK\r\n\r\n", " ", 50)],
  ["silence", again("", "", 1000)],
];

/** What is between an app and the service can answer anything. None of these is an answer of the service. */
export const badAnswers = new Map(bodies);

/** A refusal for now, with a time to wait that is none. */
export const badWaits = new Map(
  ["Wed, 25 Nov 2026 07:28:00 GMT", "-5", "NaN", "", "soon", "0", "99999999999999999999", "5; 7"].map(
    (value): [name: string, answer: Answer] => [
      `503 with Retry-After "${value}"`,
      json(503, { ok: false, error: { code: "unavailable" } }, { "retry-after": value }),
    ],
  ),
);

/**
 * Serves the answers, and another host to which the redirects lead and which answers any request with a yes.
 *
 * @returns the base URL at which every request gets one answer, the one at which the first gets a yes, and what the other
 * host was sent
 */
export async function serveBadAnswers() {
  const answers = [...badAnswers, ...badWaits];
  const asked = new Set<string>();
  const strayed: string[] = [];
  const other = await serve((request, response) => {
    strayed.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    json(200, { ...yes, ...tokens })(response);
  });
  const server = await serve((request, response) => {
    const [kind = "", at = "", run] = (request.url ?? "").slice(1).split("/");
    const base = `${kind}/${at}/${run}`;
    const writeHead = response.writeHead.bind(response) as (
      status: number,
      headers: object,
    ) => ServerResponse;
    response.writeHead = ((status: number, headers: Record<string, string> = {}) =>
      writeHead(status, {
        ...headers,
        ...(headers.location && { location: other.url + headers.location }),
      })) as typeof response.writeHead;
    if (kind === "after-yes" && !asked.has(base)) json(200, yes)(response);
    else answers[Number(at)]?.[1](response);
    asked.add(base);
  });
  let runs = 0;
  const urlOf = (kind: string) => (name: string) =>
    `${server.url}/${kind}/${answers.findIndex(([one]) => one === name)}/${runs++}`;
  afterAll(() => Promise.all([server.stop(), other.stop()]));
  return { at: urlOf("always"), afterYes: urlOf("after-yes"), strayed };
}
