import { afterAll, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/lifetimes";
import { Connector, vendors } from "@/tests/clients/connector";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { startOutside } from "@/tests/support/outside";
import { answerApp } from "@/tests/support/owner";

/* The connectors of claude.ai and ChatGPT, by stand-ins that follow their documents. */

const email = "ceo@example.com";
const hourMs = 61 * 60 * 1000; // a clock may be a few seconds behind
const clock = makeClock();
const outside = await startOutside(
  Object.fromEntries(vendors.map(({ document }) => [document.client_id, document])),
);
afterAll(outside.stop);
const service = await startService({
  ...outside.environment,
  ...clock.environment,
  NODE_OPTIONS: `${outside.environment.NODE_OPTIONS} ${clock.environment.NODE_OPTIONS}`,
  RATE_LIMIT_MCP: "100000",
  SIGN_IN: "local",
});
await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");

const cases = vendors.flatMap((vendor) => [
  { ...vendor, vendor, identification: "document", path: "/mcp/account" } as const,
  { ...vendor, vendor, identification: "registration", path: "/mcp" } as const,
]);

describe.each(cases)("$name at $path, known by its $identification", ({ vendor, identification, path }) => {
  const connect = async () => {
    const approve = async (address: string) =>
      answerApp(await Browser.signIn(service, email), service, address);
    const connector = new Connector(vendor, identification, service, approve, service.url + path, clock.now);
    await connector.add();
    return connector;
  };
  const read = async (connector: Connector) =>
    expect((await connector.call("get_credits_balance")).structuredContent).toEqual({ credits: 3 });

  it("asks its owner once, when it connects or when it needs the account, and then goes on", async () => {
    const connector = await connect();
    expect(connector.asked).toBe(path === "/mcp/account" ? 1 : 0);
    expect((await connector.call("get_health")).structuredContent).toMatchObject({ ok: true });
    await read(connector);
    clock.pass(hourMs);
    await read(connector);
    await connector.renew({ loseAnswer: true });
    expect(await connector.renew(), "after a lost answer").toBe(true);
    clock.pass(hourMs);
    await Promise.all([1, 2, 3, 4, 5].map(() => read(connector)));
    clock.pass((sessionDays.idle - 1) * dayMs);
    await read(connector);
    expect(connector.asked).toBe(1);
  });

  it("asks again after 31 idle days, and after its owner has disconnected it", async () => {
    const connector = await connect();
    await read(connector);
    clock.pass((sessionDays.idle + 1) * dayMs);
    await read(connector);
    expect(connector.asked).toBe(2);
    await service.adminJson("session", "end", email, "--all");
    await read(connector);
    expect(connector.asked).toBe(3);
  });
});
