import { mcpServer, operations } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { Browser } from "@/tests/support/browser";
import { openidClient } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import type { Answer } from "@/tests/support/service";
import type { Calls } from "./calls";
import type { World } from "./world";

const owner = "owner@example.com";
const people = 4000; // one sign-in each: codes are limited by email
const apps = 12;

const leadsTo = (address: string) => (answer: Answer) => answer.headers.location === address;
const isOneOf =
  (...statuses: number[]) =>
  (answer: Answer) =>
    statuses.includes(answer.status);

/** Everyone who comes, at rates that keep the service busy for about a third of a core. */
export async function startTraffic(world: World, calls: Calls): Promise<void> {
  const { service, inbox } = world;
  await service.adminJson("account", "add", owner, "--plan", "licensed");
  await makePeople(world);
  let token = await service.token(owner);
  // It is good for an hour. A command that fails leaves the one before.
  calls.repeat("token", 1 / 600, async () => {
    token = await service.token(owner).catch(() => token);
  });
  const address = (n: number) => `10.1.${Math.floor(n / 250) % 250}.${n % 250}`;
  const ask = (path: string, n: number, headers = {}) =>
    service.ask(path, { headers: { "x-forwarded-for": address(n), ...headers } });
  const browser = await signIn(world, calls, owner);
  if (!browser) throw new Error("the owner cannot sign in");

  const { health, siteBanner, entitlement, creditsBalance } = operations;
  for (const [{ path }, perSecond] of [
    [health, 45],
    [siteBanner, 25],
    [pages.front, 5],
    [pages.errors, 5],
    [pages.status, 1],
  ] as const)
    calls.repeat(path, perSecond, (n) => calls.send(path, () => ask(path, n)));
  for (const { path } of [entitlement, creditsBalance])
    calls.repeat(path, 30, (n) => calls.send(path, () => ask(path, n, { authorization: `Bearer ${token}` })));
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_health" } };
  const mcp = (n: number) =>
    service.ask(mcpServer.paths[0], {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-forwarded-for": address(n),
      },
      body: JSON.stringify(message),
    });
  calls.repeat("mcp", 10, (n) => calls.send("mcp", () => mcp(n)));
  // One address asks more than it may, and strangers ask for what is not there.
  const greedy = { "x-forwarded-for": "10.2.0.1" };
  calls.repeat("refused", 4, () =>
    calls.send("refused", () => service.ask(health.path, { headers: greedy }), isOneOf(200, 429)),
  );
  calls.repeat("unknown", 1, (n) => calls.send("unknown", () => ask("/api/nothing", n), isOneOf(404)));
  const broken = { "content-type": "application/json" };
  const malformed = () => service.ask(mcpServer.paths[0], { method: "POST", headers: broken, body: "{" });
  calls.repeat("malformed", 1 / 2, () => calls.send("malformed", malformed, isOneOf(400)));
  calls.repeat("home", 1, async () => {
    await browser.open("/sign-in/renew");
    await calls.send("home", () => browser.open("/home"));
  });
  calls.repeat("sign-in", 0.5, (n) => signIn(world, calls, `person-${n}@example.com`));
  calls.repeat("join", 0.5, (n) =>
    calls.send(
      "join",
      () => new Browser(service).submit("/waitlist/join", { email: `joins-${n}@example.com` }),
      leadsTo("/waitlist?joined"),
    ),
  );
  await startApps(world, calls, browser);
  // An operator adds and deletes accounts. Each gets a mail, whose link stops the later ones.
  calls.repeat("command", 1 / 15, async (n) => {
    const startedAt = performance.now();
    const { code } = await service.admin("account", "add", `added-${n}@example.com`, "--plan", "trial");
    calls.note("command", startedAt, code === 0 ? "good" : "late");
    if (n > 20) await service.admin("account", "delete", `added-${n - 20}@example.com`);
  });
  calls.repeat("unsubscribe", 1, async () => {
    const letters = inbox.received.filter((mail) => !codeIn(mail));
    inbox.received = inbox.received.filter(codeIn);
    for (const { raw } of letters) {
      const [, url] = /^List-Unsubscribe:\s*<([^>]+)>/im.exec(String(raw)) ?? [];
      if (!url) continue;
      const post = { method: "POST", body: "List-Unsubscribe=One-Click" };
      await calls.send("unsubscribe", () => service.ask(url.slice(service.url.length), post));
    }
  });
}

async function makePeople({ store }: World): Promise<void> {
  const row = (n: number) => `('person-${n}', 'person-${n}@example.com', 'user-${n}', 'hobby', 0)`;
  const rows = Array.from({ length: people }, (_, n) => row(n));
  await store.query(`INSERT INTO accounts (id, email, subject, plan, created_at_ms) VALUES ${rows.join()}`);
}

const codeIn = ({ raw }: { raw: Buffer }) => /^Subject: (\d{6}) is your/m.exec(String(raw))?.slice(1);

/** Signs in with the code of the mail, which is taken out of the inbox. */
async function signIn({ service, inbox }: World, calls: Calls, email: string): Promise<Browser | undefined> {
  const browser = new Browser(service);
  const codes: string[] = [];
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  if (
    !(await calls.send("sign-in", () => browser.submit("/sign-in/send", { email }), leadsTo("/sign-in/code")))
  )
    return undefined;
  for (let tries = 0; tries < 600 && codes.length === 0; tries++) {
    const at = inbox.received.findIndex(({ to }) => to === email);
    const [mail] = at < 0 ? [] : inbox.received.splice(at, 1);
    codes.push(...((mail && codeIn(mail)) ?? []));
    await wait(100);
  }
  const [code] = codes;
  if (!code) return void calls.note("sign-in", performance.now(), "late");
  const redeemed = await calls.send(
    "sign-in",
    () => browser.submit("/sign-in/redeem", { code }),
    leadsTo("/home"),
  );
  return redeemed && browser;
}

/** Connected apps, which renew their tokens every five seconds. */
async function startApps({ service }: World, calls: Calls, browser: Browser): Promise<void> {
  await browser.open("/sign-in/renew");
  const library = await openidClient.makeApp(service);
  const tokens: string[] = [];
  for (let app = 0; app < apps; app++) {
    const { address, redeem } = await library.ask();
    const { refresh_token = "" } = await redeem(new URL(await answerApp(browser, service, address.href)));
    tokens.push(refresh_token);
  }
  calls.repeat("refresh", apps / 5, async (n) => {
    const fields = {
      grant_type: "refresh_token",
      client_id: "native",
      refresh_token: tokens[n % apps] ?? "",
    };
    const answer = await calls.send("refresh", () => service.submit("/oauth/token", fields));
    if (answer) tokens[n % apps] = JSON.parse(answer.text).refresh_token;
  });
}
