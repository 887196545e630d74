import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService, startStage } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { expectAnswer, expectStamp } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { postLegacy, postModern } from "@/tests/support/mcp";

const { siteBanner } = operations;
const maxCopyAgeMs = 15_000;

describe.each(everyEngine)("GET /api/site-banner on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });

  /** Requests the banner after the service's copy has expired. */
  function askAfresh() {
    clock.pass(maxCopyAgeMs);
    return service.ask(siteBanner.path);
  }

  it("answers null if it starts while the store fails, and the notice once it has recovered", async () => {
    await service.adminJson("banner", "set", "promo", "Begun");
    await stage.query("ALTER TABLE site_banner RENAME TO site_banner_away");
    await service.stop();
    await service.run();
    expect((await askAfresh()).text).toBe('{"banner":null}');
    await stage.query("ALTER TABLE site_banner_away RENAME TO site_banner");
    clock.pass(1000);
    const { text } = await service.ask(siteBanner.path);
    expect(text).toBe('{"banner":{"kind":"promo","message":"Begun"}}');
    await service.adminJson("banner", "clear");
  });

  it("answers null if there is no notice", async () => {
    const answer = await askAfresh();
    expect(expectAnswer(service, siteBanner, answer, 200)).toEqual({ banner: null });
  });

  it("refuses a notice that would end as it starts", async () => {
    const noon = "2099-01-01T12:00:00Z";
    const { stderr } = await service.admin(
      "banner",
      "set",
      "promo",
      "Never",
      "--starts",
      noon,
      "--ends",
      noon,
    );
    expect(stderr).toContain("The banner would end before it starts.");
  });

  it.each(["promo", "warning"])("answers with the kind and message of a %s", async (kind) => {
    const message = "We move house on <Friday> & “Saturday”";
    await service.adminJson("banner", "set", kind, message, "--ends", "2099-01-01");
    const answer = await askAfresh();
    expect(expectAnswer(service, siteBanner, answer, 200)).toEqual({ banner: { kind, message } });
  });

  it("is cacheable by shared caches for 15 seconds and readable by any origin", async () => {
    await askAfresh();
    clock.pass(4000);
    const { headers } = await service.ask(siteBanner.path, {
      headers: { Origin: "https://elsewhere.example", "X-Request-Id": "first-visitor" },
    });
    expect(headers["cache-control"]).toBe("public, max-age=15, s-maxage=15");
    expect(Number(headers.age)).toBeGreaterThan(4);
    expect(Number(headers.age)).toBeLessThanOrEqual(15);
    expect(headers).not.toHaveProperty("x-request-id");
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["access-control-expose-headers"]).toBe(
      "API-Version, Deprecation, Link, Sunset, X-Request-Id",
    );
    expect(headers.vary).toBe("API-Version");
    expect(headers).not.toHaveProperty("access-control-allow-credentials");
    expect(headers).not.toHaveProperty("set-cookie");
  });

  it("lets a browser on another origin send API-Version", async () => {
    const answer = await service.ask(siteBanner.path, {
      method: "OPTIONS",
      headers: {
        Origin: "https://elsewhere.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "api-version",
      },
    });
    expect(answer.status).toBe(204);
    expectStamp(service, answer);
    expect(answer.headers.allow).toBe("GET, HEAD, OPTIONS");
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, HEAD, OPTIONS");
    expect(answer.headers["access-control-allow-headers"]).toBe("API-Version, X-Request-Id");
    expect(answer.headers["access-control-max-age"]).toBe("7200");
  });

  it("lets another origin read its refusals, uncached", async () => {
    for (const answer of [
      await service.ask(siteBanner.path, { method: "POST" }),
      await service.ask(siteBanner.path, { headers: { "API-Version": "2" } }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
      expect(answer.headers["cache-control"]).toBe("no-store");
    }
  });

  it("shares one copy between the API and the pages", async () => {
    await service.adminJson("banner", "set", "promo", "The copy");
    expect((await askAfresh()).text).toContain("The copy");
    await service.adminJson("banner", "set", "promo", "The store");
    const { text } = await service.ask("/");
    expect(text).toContain("The copy");
    expect(text).not.toContain("The store");
  });

  it("is also the result of the MCP tool, in both protocol versions", async () => {
    await service.adminJson("banner", "set", "warning", "Repairs at <noon>");
    const banner = { kind: "warning", message: "Repairs at <noon>" };
    expect(JSON.parse((await askAfresh()).text)).toEqual({ banner });
    const message = { method: "tools/call", params: { name: "get_site_banner", arguments: {} } };
    for (const send of [postLegacy, postModern]) {
      const { result } = JSON.parse((await send(service, message)).text);
      expect(result).not.toHaveProperty("isError");
      expect(result.structuredContent).toEqual({ banner });
      expect(result.content).toEqual([{ type: "text", text: JSON.stringify({ banner }) }]);
    }
  });

  it("shows a new notice within 15 seconds, and keeps the last copy while the store fails", async () => {
    await service.adminJson("banner", "set", "warning", "First");
    expect((await askAfresh()).text).toContain("First");
    await service.adminJson("banner", "set", "warning", "Second");
    expect((await service.ask(siteBanner.path)).text).toContain("First");
    expect((await askAfresh()).text).toContain("Second");

    await stage.query("ALTER TABLE site_banner RENAME TO site_banner_away");
    expect((await askAfresh()).text).toContain("Second");
    for (let asked = 0; asked < 20; asked++)
      expect((await service.ask(siteBanner.path)).text).toContain("Second");
    const failed = () => service.log.split("the banner could not be read").length - 2; // one at the start
    await eventually(() => expect(failed()).toBeGreaterThan(0));
    expect(failed(), "it asks once a second").toBeLessThan(20);
    await stage.query("ALTER TABLE site_banner_away RENAME TO site_banner");
  });
});
