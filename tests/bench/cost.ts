import { files } from "@/lib/http/register/files";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { startBareNode } from "@/tests/bench/bare";
import { load, scriptOf } from "@/tests/bench/load";
import { judge, print } from "@/tests/bench/verdict";
import { Browser } from "@/tests/support/browser";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { connectApps, connectDevice, refresh } from "@/tests/support/owner";
import { processorTimeOf } from "@/tests/support/process-accounts";
import type { Service } from "@/tests/support/service";
import type { EngineName } from "@/tests/support/stores";
import { median } from "@/tests/support/timing";

const { health, siteBanner, entitlement } = operations;
const [mcp] = mcpServer.paths;
const rounds = 5;
const seconds = 2;
/** Clients behind one proxy, others in each round. Each stays within its rate limit, as the load of a real service. */
const addresses = 2000;

type Request = { path: string; headers?: Record<string, string>; body?: string; status?: number };

const encoded = { "Accept-Encoding": "br" };
const call = { name: "get_health", arguments: {} };
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const rpc = (params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
const json = { "Content-Type": "application/json" };

/** The measured requests, each with its maximum cost as a multiple of bare `node:http`. */
const costs: { name: string; most: number; request: Request }[] = [
  { name: "health", most: 1.8, request: { path: health.path } },
  { name: "banner", most: 1.6, request: { path: siteBanner.path } },
  {
    name: "MCP get_health, by 2025-11-25",
    most: 3.5,
    request: { path: mcp, headers: json, body: rpc(call) },
  },
  {
    name: "MCP get_health, by 2026-07-28",
    most: 3.5,
    request: {
      path: mcp,
      headers: {
        ...json,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": call.name,
      },
      body: rpc({ ...call, _meta: meta }),
    },
  },
  { name: "document", most: 1.9, request: { path: pages.errors.path, headers: encoded } },
  { name: "front page", most: 1.9, request: { path: pages.front.path, headers: encoded } },
  { name: "sign-in page", most: 2.2, request: { path: pages.signIn.path, headers: encoded } },
  { name: "waitlist page", most: 2.2, request: { path: pages.waitlist.path, headers: encoded } },
  { name: "status page", most: 2.2, request: { path: pages.status.path, headers: encoded } },
  { name: "asset", most: 1.9, request: { path: files.style.path, headers: encoded } },
  { name: "API description", most: 2, request: { path: publications.openApi.path, headers: encoded } },
];

/** Measures the CPU time per request as a ratio to bare `node:http` with the same headers, both alternately. */
export async function measureCosts(service: Service): Promise<void> {
  for (const [index, { name, most, request }] of costs.entries()) {
    const from = (round: number) => (index * (rounds + 1) + round) * addresses;
    await measureCost(service, name, most, request, from);
  }
}

/** Measures a health check that is refused, at a service that allows one per client. */
export async function measureRefusalCost(service: Service): Promise<void> {
  const script = scriptOf({ path: health.path, addresses });
  for (let allowed = 1; allowed > 0; ) {
    const { requests, failed } = await load(`http://localhost:${service.port}`, { seconds: 1, script });
    allowed = requests - failed;
  }
  await measureCost(service, "health, refused (429)", 1.8, { path: health.path, status: 429 });
}

/** Measures the CPU time for each page that is rendered anew for each request. */
export async function measureRenderedPages(service: Service, engine: EngineName): Promise<void> {
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
  const { cookies } = await Browser.signIn(service, "ceo@example.com");
  // Without the cookie of a known browser each address has a share of its own: no page is refused.
  const signedIn = { Cookie: `__session=${cookies.get("__session")}` };
  const rendered: [path: string, headers?: Record<string, string>][] = [
    [`${pages.signIn.path}?problem=ended`],
    [pages.code.path],
    [`${pages.invitation.path}?token=x`],
    [`${pages.search.path}?q=entitlement`],
    [pages.connect.path, signedIn],
    [pages.home.path, signedIn],
  ];
  for (const [path, headers = {}] of rendered) {
    const script = scriptOf({ path, headers, addresses });
    const url = `http://localhost:${service.port}`;
    await load(url, { seconds: 1, script });
    const before = processorTimeOf(service.pid);
    const { requests, failed } = await load(url, { seconds: 4, script });
    const micros = processorTimeOf(service.pid) - before;
    const ms = micros / requests / 1000;
    if (failed > 0) throw new Error(`${failed} of ${requests} responses of ${path} were not 200`);
    if (path === pages.home.path) judge(`home on ${engine}`, ms, { most: 1 }, "ms");
    else print(`${path}: ${ms.toFixed(1)} ms`);
  }
}

/** Measures the same for a granted entitlement. */
export async function measureEntitlementCost(service: Service, engine: EngineName): Promise<void> {
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
  const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
  const most = { embedded: 2.2, postgres: 3 }[engine];
  await measureCost(service, `entitlement on ${engine}`, most, { path: entitlement.path, headers });
}

/** Each proof is good for one request, so they are made before. */
const proofs = 2000;

/**
 * Measures what an entitlement costs more by a token that is bound to a key (RFC 9449), next to one that is not and to bare
 * `node:http`.
 */
export async function measureProofCost(service: Service, engine: EngineName): Promise<void> {
  const email = "bound@example.com";
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const { refresh_token } = await connectDevice(await Browser.signIn(service, email), service);
  const { path } = entitlement;
  const holder = makeKeyHolder(service.url);
  const grant = { client_id: "native", grant_type: "refresh_token", refresh_token };
  const bound = await service.submit("/oauth/token", grant, {
    headers: { dpop: holder.prove("POST", "/oauth/token") },
  });
  const { access_token } = JSON.parse(bound.text);
  const unbound = { authorization: `Bearer ${await service.token(email)}` };
  const bare = await startBareNode(await service.ask(path, { headers: unbound }));
  const send = async (pid: number, url: string, headers: Record<string, string>[]) => {
    const before = processorTimeOf(pid);
    const left = headers.entries();
    const sendNext = async () => {
      for (const [n, own] of left) {
        const forwarded = `10.1.${n >> 8}.${n & 255}`;
        const { status } = await fetch(url, { headers: { ...own, "x-forwarded-for": forwarded } });
        if (status !== 200) throw new Error(`a request with a proof answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: together }, sendNext));
    return (processorTimeOf(pid) - before) / headers.length;
  };
  // With a database, the service's own URL is another: proofs are about that one, requests go to its port.
  const ours = `http://localhost:${service.port}${path}`;
  const [more, ratios]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const proven = Array.from({ length: proofs }, () => holder.headers("GET", path, access_token));
    const plain = Array.from({ length: proofs }, () => unbound);
    const least = await send(bare.child.pid ?? 0, bare.url, plain);
    const without = await send(service.pid, ours, plain);
    const found = await send(service.pid, ours, proven);
    if (round === 0) continue;
    more.push(found - without);
    ratios.push(found / least, without / least);
  }
  bare.child.kill();
  const [withProof, withoutOne] = [0, 1].map((kind) => median(ratios.filter((_, at) => at % 2 === kind)));
  const note = `${withProof?.toFixed(1)} × bare node:http, ${withoutOne?.toFixed(1)} × without`;
  judge(`an entitlement's proof on ${engine}`, median(more), { most: 300 }, "µs", note);
}

const apps = 8;
/** Renewals of each app: the sum with those of all rounds stays within its rate limit. */
const renewals = { first: 100, round: 50 };

/** Measures the CPU time of a renewal by connected apps, in the best of some rounds. */
export async function measureRefreshCost(service: Service, engine: EngineName): Promise<void> {
  const email = "apps@example.com";
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const owner = await Browser.signIn(service, email);
  const tokens = await connectApps(owner, service, apps);
  const renew = async (first: string, times: number) => {
    let refresh_token = first;
    for (let time = 0; time < times; time++) {
      const { status, text } = await refresh(service, refresh_token);
      if (status !== 200) throw new Error(`a renewal answered ${status}: ${text}`);
      ({ refresh_token } = JSON.parse(text));
    }
    return refresh_token;
  };
  const renewAll = (from: string[], times: number) => Promise.all(from.map((token) => renew(token, times)));
  let latest = await renewAll(tokens, renewals.first);
  const millis: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = processorTimeOf(service.pid);
    latest = await renewAll(latest, renewals.round);
    const micros = processorTimeOf(service.pid) - before;
    millis.push(micros / (apps * renewals.round) / 1000);
  }
  judge(`app refresh on ${engine}`, Math.min(...millis), { most: 2 }, "ms");
}

/** Owners who sign in at once: a sign-in alone takes as long as its mail waits for the runner, which costs nothing. */
const together = 10;
/** Rounds until the compiler has done with the code of a sign-in. */
const warmingUp = 5;

/** Measures the CPU time of a sign-in by a mailed code, with its mail. */
export async function measureSignInCost(service: Service, engine: EngineName): Promise<void> {
  const millis: number[] = [];
  for (let round = -warmingUp; round < rounds; round++) {
    const emails = Array.from({ length: together }, (_, n) => `owner-${round}-${n}@example.com`);
    for (const email of emails) await service.adminJson("account", "add", email, "--plan", "licensed");
    const before = processorTimeOf(service.pid);
    await Promise.all(emails.map((email) => Browser.signIn(service, email)));
    if (round >= 0) millis.push((processorTimeOf(service.pid) - before) / together / 1000);
  }
  judge(`sign-in by code on ${engine}, ${together} at once`, median(millis), { most: 10 }, "ms");
}

async function measureCost(
  service: Service,
  name: string,
  most: number,
  { path, headers = {}, body, status = 200 }: Request,
  from: (round: number) => number = () => 0,
): Promise<void> {
  const answer = await service.ask(path, {
    headers: { "X-Forwarded-For": "10.0.0.99", ...headers },
    ...(body && { method: "POST", body }),
  });
  if (answer.status !== status) throw new Error(`${path} answered ${answer.status}`);
  const bare = await startBareNode(answer);
  const ours = `http://localhost:${service.port}`;
  const [ratios, rates]: [number[], number[]] = [[], []];
  const script = scriptOf({ path, headers, addresses, ...(body && { body }) });
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const least = await costOf(bare.child.pid ?? 0, () => load(bare.url, { seconds, script }));
    const found = await costOf(service.pid, () => load(ours, { seconds, script, from: from(round) }));
    if (found.failed !== (status === 200 ? 0 : found.requests)) {
      throw new Error(`${found.failed} of ${found.requests} responses of ${path} were not ${status}`);
    }
    if (round === 0) continue;
    ratios.push(found.micros / least.micros);
    rates.push(found.perSecond);
  }
  bare.child.kill();
  judge(name, median(ratios), { most }, "×", `${Math.round(median(rates)).toLocaleString("en")} requests/s`);
}

async function costOf(pid: number, run: () => ReturnType<typeof load>) {
  const before = processorTimeOf(pid);
  const loaded = await run();
  return { ...loaded, micros: (processorTimeOf(pid) - before) / loaded.requests };
}
