import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/operations";
import { engines, type Stage } from "@/tests/support/engines";
import { giveBack, lend } from "@/tests/support/lent-service";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

// The texts do not depend on the engine.
describe.each(engines.slice(0, 1))("/home and GET /api/entitlement", (engine) => {
  let stage: Stage;
  let service: Service;
  beforeAll(async () => {
    ({ stage, service } = await lend(engine));
  });
  afterAll(() => giveBack(service));

  /** The API's hint to an app, and the page of the same session. */
  async function both(of: Service, headers: Record<string, string> = {}) {
    const { text } = await of.ask(operations.entitlement.path, { headers });
    const page = await of.ask("/home", { headers });
    return { hint: JSON.parse(text).error.hint as string, page: page.text };
  }

  const expectTheSame = ({ hint, page }: { hint: string; page: string }, says: string) => {
    expect(hint).toContain(says);
    expect(page).toContain(hint);
  };

  it("give the same advice when a trial has ended", async () => {
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const Cookie = `__session=${await service.token("ended@example.com")}`;
    expectTheSame(await both(service, { Cookie }), "For a plan, write to help@example.com");
  });

  it("give the same advice when the account cannot be read", async () => {
    await service.adminJson("account", "add", "odd@example.com");
    const Cookie = `__session=${await service.token("odd@example.com")}`;
    await stage.query("UPDATE accounts SET plan = 'platinum' WHERE email = 'odd@example.com'");
    expectTheSame(await both(service, { Cookie }), "write to help@example.com about your account");
  });

  it("give the same advice when sign-in is not configured", async () => {
    expectTheSame(await both(await unconfigured()), "trying again does not help");
  });
});
