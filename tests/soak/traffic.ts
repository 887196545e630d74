import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { signIn, startApps, startCommands, startJoins, startSignIns } from "@/tests/support/callers";
import type { Calls } from "@/tests/support/calls";
import type { Answer } from "@/tests/support/service";
import { codeIn, unsubscribeUrlIn } from "@/tests/support/smtp-inbox";
import type { World } from "./world";

const owner = "owner@example.com";
const isOneOf =
  (...statuses: number[]) =>
  (answer: Answer) =>
    statuses.includes(answer.status);

/** Everyone who comes, at rates that keep the service busy for about a third of a core. */
export async function startTraffic(world: World, calls: Calls): Promise<void> {
  const { service, inbox } = world;
  await service.adminJson("account", "add", owner, "--plan", "licensed");
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
  calls.repeat("home", 1, () => calls.send("home", () => browser.open("/home")));
  await startSignIns(world, calls, 0.5);
  startJoins(world, calls, 0.5);
  await startApps(world, calls, 2.4, browser);
  // Each account gets a mail, whose link stops the later ones.
  startCommands(world, calls, 1 / 15);
  calls.repeat("unsubscribe", 1, async () => {
    const letters = inbox.received.filter((mail) => !codeIn(mail));
    inbox.received = inbox.received.filter(codeIn);
    for (const letter of letters) {
      const url = unsubscribeUrlIn(letter);
      if (!url) continue;
      const post = { method: "POST", body: "List-Unsubscribe=One-Click" };
      await calls.send("unsubscribe", () => service.ask(url.slice(service.url.length), post));
    }
  });
}
