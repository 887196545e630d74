import { describe, expect, it } from "vitest";
import { headBounds } from "@/lib/config/limits";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { startService } from "@/tests/support/block";
import { processorTimeOf } from "@/tests/support/process-accounts";

const { path } = pages.signIn;
const most = headBounds.bytes - 1000;
const filled = (unit: string) => unit.repeat(Math.ceil(most / unit.length)).slice(0, most);
const numbered = (make: (n: number) => string) =>
  Array.from({ length: most / 9 }, (_, n) => make(1000 + n)).join("");

/** Page requests with headers and queries of the maximum length. */
const attacks: { of: string; target?: string; headers?: Record<string, string> }[] = [
  { of: "a User-Agent of one word", headers: { "User-Agent": filled("a") } },
  { of: "a User-Agent that begins a bot's name", headers: { "User-Agent": filled("google") } },
  { of: "a cookie of each name", headers: { Cookie: numbered((n) => `c${n}=1; `) } },
  { of: "a cookie of ours of each name", headers: { Cookie: numbered((n) => `__client${n}=1; `) } },
  { of: "cookies of no name", headers: { Cookie: filled(";") } },
  { of: "languages", headers: { "Accept-Language": filled("en;q=0.1,") } },
  { of: "encodings", headers: { "Accept-Encoding": filled("gzip;q=0.1,") } },
  { of: "media types", headers: { Accept: filled("text/html;q=0.1,") } },
  { of: "a parameter again and again", target: `${path}?${filled("a&")}` },
  { of: "parameters of many names", target: `${path}?${numbered((n) => `q${n}=1&`)}` },
  { of: "a parameter's list", target: `${path}?${filled("a[]=1&")}` },
  {
    of: "a parameter to the authorization server",
    target: `${connectEndpoints.resume.path}?${filled("a&")}`,
  },
  { of: "a search for many words", target: `${pages.search.path}?q=${numbered((n) => `w${n}+`)}` },
];
const service = await startService({ SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
for (let n = 0; n < 5; n++) await ask(path, {}, "192.0.2.1");
await ask(`${pages.search.path}?q=a`, {}, "192.0.2.1");

function ask(target: string, headers: Record<string, string>, from: string) {
  return service.ask(target, { headers: { ...headers, "X-Forwarded-For": from } });
}

/** The processor time of the service, in milliseconds. */
const processorMs = () => processorTimeOf(service.pid) / 1000;

/** The cost of 13 concurrent requests from one address, and the time of another client's `/sign-in` meanwhile. */
async function press(target: string, headers: Record<string, string>, from: string) {
  const before = processorMs();
  const requests = Array.from({ length: 13 }, () => ask(target, headers, from));
  const startedAtMs = performance.now();
  const visitor = ask(path, {}, "198.51.100.1").then(({ status }) => ({
    status,
    afterMs: performance.now() - startedAtMs,
  }));
  const answers = await Promise.all(requests);
  const { status, afterMs } = await visitor;
  return { statuses: answers.map((answer) => answer.status), status, afterMs, ms: processorMs() - before };
}

describe("thirteen of the most expensive requests from one address", () => {
  it.each(attacks)(
    "cost about as much as ordinary ones: $of",
    { timeout: 120_000 },
    async ({ of, target = path, headers = {} }) => {
      const from = `192.0.2.${10 + attacks.findIndex((attack) => attack.of === of)}`;
      const [plainPath = ""] = target.split("?");
      const plain = await press(`${plainPath}?plain`, {}, from); // without a query it may come from memory
      const attack = await press(target, headers, from);
      expect(attack.status).toBe(200);
      expect(Math.max(...attack.statuses)).toBeLessThan(500);
      // In ticks of 10 ms, and including garbage collection.
      expect(attack.ms, `${plain.ms} ms without it`).toBeLessThan(4 * plain.ms + 300);
      expect(attack.afterMs, `${plain.afterMs} ms without it`).toBeLessThan(10 * plain.afterMs + 500);
    },
  );
});
