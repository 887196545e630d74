import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { operations } from "@/lib/http/register/operations";
import type { Retirement } from "@/lib/http/route";
import { startService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";

const { health, siteBanner } = operations;
const atMs = Date.now();
const inDays = (days: number) => new Date(atMs + days * dayMs).toISOString();

/** Settings under which the banner ends in this many days. */
const endingIn = (days: number): Environment => {
  const retirement: Retirement = {
    announcedAt: inDays(days - 100),
    deprecatedAt: inDays(days - 50),
    sunsetAt: inDays(days),
    guide: "/docs/api/policy",
  };
  return {
    TEST_RETIREMENT: JSON.stringify(retirement),
    NODE_OPTIONS: "--import ./tests/support/retiring.mjs",
  };
};

const check = async (service: Service) => {
  const { code, stdout } = await service.execute(["dist/admin/main.js", "--json", "check"]);
  const findings: { what: string }[] = JSON.parse(stdout);
  return { code, finding: findings.find(({ what }) => what === "retirements") };
};

describe("a service that starts after the sunset of an operation", async () => {
  const metricsPort = await reservePort();
  const service = await startService({
    ...endingIn(-1),
    METRICS_PORT: String(metricsPort),
    SIGN_IN: "local",
  });

  it("answers 410 there, and everything else as ever", async () => {
    // Answers that the API description lacks without the retirement must not be recorded.
    const gone = await fetch(`http://127.0.0.1:${service.port}${siteBanner.path}`);
    expect(gone.status).toBe(410);
    expect((await gone.json()).error).toMatchObject({
      code: "not_found",
      hint: `Follow the migration guide: ${service.url}/docs/api/policy`,
    });
    expect(gone.headers.get("sunset")).toBe(new Date(inDays(-1)).toUTCString());
    expect((await service.ask(health.path)).status).toBe(200);
    expect((await service.ask("/sign-in")).status).toBe(200);
  });

  it("logs it as an error", async () => {
    await eventually(() =>
      expect(service.takeErrors()).toEqual(["an operation is past its sunset and returns 410"]),
    );
    expect(service.log).toContain('"operation":"GET /api/site-banner"');
  });

  it("measures when it was, and check warns of it", async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const seconds = Date.parse(inDays(-1)) / 1000;
    expect(metrics).toContain(
      `corner_office_sunset_timestamp_seconds{operation="GET /api/site-banner"} ${seconds}\n`,
    );
    expect(await check(service)).toMatchObject({
      code: 0,
      finding: {
        level: "warning",
        works: true,
        detail: `GET /api/site-banner returns 410 from ${inDays(-1)}`,
      },
    });
  });
});

it("check warns of a sunset 30 days ahead, and not before", async () => {
  const [near, far] = [await Service.make(endingIn(29.9)), await Service.make(endingIn(30.1))];
  expect((await check(near)).finding).toMatchObject({ level: "warning", works: true });
  expect((await check(far)).finding).toMatchObject({ level: "fine", detail: "1 announced" });
});
