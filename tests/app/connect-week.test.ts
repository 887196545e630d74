import { describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { post } from "@/tests/support/mcp";
import { type Answer, Service } from "@/tests/support/service";

type Tokens = { access_token: string; refresh_token: string; expires_in: number };

const email = "ceo@example.com";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const hourMs = 60 * 60 * 1000;

const redeem = (service: Service, fields: Record<string, string>) =>
  service.submit("/oauth/token", { client_id: "native", ...fields });
const refresh = (service: Service, { refresh_token }: Tokens) =>
  redeem(service, { grant_type: "refresh_token", refresh_token });
const entitlement = async (service: Service, token: string) =>
  (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;

/** Lets an app in by the code that it shows, which its owner approves in a browser. */
async function connect(
  service: Service,
  approve: (fields: Record<string, string>) => Promise<Answer>,
  more: Record<string, string> = {},
): Promise<Tokens> {
  const asked = await service.submit("/oauth/device", {
    client_id: "native",
    scope: "account:read",
    ...more,
  });
  const { user_code, device_code } = JSON.parse(asked.text);
  const wait = { grant_type: deviceGrant, device_code };
  expect(JSON.parse((await redeem(service, wait)).text).error).toBe("authorization_pending");
  const { headers } = await approve({ user_code, answer: "approve" });
  expect(headers.location).toBe("/connect?answered=user_code");
  return JSON.parse((await redeem(service, wait)).text);
}

describe.each(engines)("an app that was let in once, on $name", (engine) => {
  it("keeps its token by itself for seven days of moved clock, and not for an hour more", async () => {
    const stage = await engine.prepare();
    const clock = makeClock();
    const service = await Service.start({ ...stage.environment, ...clock.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const browser = await Browser.signIn(service, email);
    let tokens = await connect(service, (fields) => browser.submit("/connect/answer", fields));
    for (let hours = 8; hours < 7 * 24; hours += 8) {
      const before = tokens.access_token;
      clock.pass(8 * hourMs);
      expect(await entitlement(service, before), "a token of eight hours ago").toBe(401);
      const { status, text } = await refresh(service, tokens);
      expect(status, `after ${hours} hours: ${text}`).toBe(200);
      tokens = JSON.parse(text);
      expect(tokens.expires_in).toBeLessThanOrEqual(3600);
      expect(await entitlement(service, tokens.access_token)).toBe(200);
    }
    clock.pass(8 * hourMs);
    expect(await entitlement(service, tokens.access_token)).toBe(401);
    expect(JSON.parse((await refresh(service, tokens)).text).error).toBe("invalid_grant");
    await service.stop();
    await stage.clear();
  });

  it("is stopped by the operator and by its account's end at its next request, and keeps nothing", async () => {
    const stage = await engine.prepare();
    const clock = makeClock();
    const service = await Service.start({ ...stage.environment, ...clock.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const browser = await Browser.signIn(service, email);
    const approve = (fields: Record<string, string>) => browser.submit("/connect/answer", fields);
    const ended = await connect(service, approve);
    const [session] = (await service.adminJson("session", "list", email)) as unknown as { id: string }[];
    await service.adminJson("session", "end", email, String(session?.id));
    const orphaned = await connect(service, approve);
    expect(await entitlement(service, orphaned.access_token)).toBe(200);
    await service.adminJson("account", "delete", email);
    for (const tokens of [ended, orphaned]) {
      expect(await entitlement(service, tokens.access_token)).not.toBe(200);
      expect(JSON.parse((await refresh(service, tokens)).text).error).toBe("invalid_grant");
    }
    await service.stop();
    await stage.clear();
  });

  it("gets no token that lives longer where a clock is an hour off", async () => {
    const stage = await engine.prepare();
    const clock = makeClock();
    const service = await Service.start({ ...stage.environment, ...clock.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const browser = await Browser.signIn(service, email);
    const tokens = await connect(service, (fields) => browser.submit("/connect/answer", fields));
    clock.pass(-hourMs);
    // It is not yet valid there, and an hour later it is as good as it was.
    expect(await entitlement(service, tokens.access_token)).toBe(401);
    clock.pass(hourMs);
    expect(await entitlement(service, tokens.access_token)).toBe(200);
    clock.pass(hourMs + 10_000);
    expect(await entitlement(service, tokens.access_token)).toBe(401);
    await service.stop();
    await stage.clear();
  });
});

describe.each(engines)("an app under Clerk, on $name", (engine) => {
  it("is let in by whom Clerk has signed in, holds a session of ours, and is ended there", async () => {
    const clerk = await ClerkInstance.start();
    const stage = await engine.prepare();
    const service = await Service.start({ ...stage.environment, ...clerk.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed", "--subject", "user_2ceo");
    const answer = (cookie: string) => (fields: Record<string, string>) =>
      service.submit("/connect/answer", fields, { headers: { cookie } });
    const signedIn = `__session=${clerk.mint()}`;
    const resource = `${service.url}/mcp`;
    const forApi = await connect(service, answer(signedIn));
    const forMcp = await connect(service, answer(signedIn), { resource });
    expect(await entitlement(service, forApi.access_token)).toBe(200);
    expect(await entitlement(service, forMcp.access_token)).toBe(401);
    const call = {
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "get_entitlement", arguments: {} },
    };
    const headers = { authorization: `Bearer ${forMcp.access_token}`, host: new URL(service.url).host };
    expect((await post(service, JSON.stringify(call), { headers })).text).toContain('\\"licensed\\"');

    const { token } = JSON.parse(
      (await service.submit("/home/token", {}, { headers: { cookie: signedIn } })).text,
    );
    for (const cookie of [`__session=${token}`, `__session=${forApi.access_token}`, ""]) {
      const asked = await service.submit("/oauth/device", { client_id: "native", scope: "account:read" });
      const { user_code } = JSON.parse(asked.text);
      const { status, headers } = await answer(cookie)({ user_code, answer: "approve" });
      expect(headers.location ?? status).not.toBe("/connect?answered=user_code");
    }

    await service.adminJson("session", "end", email, "--all");
    expect(await entitlement(service, forApi.access_token)).toBe(401);
    expect(JSON.parse((await refresh(service, forApi)).text).error).toBe("invalid_grant");
    expect(await entitlement(service, clerk.mint())).toBe(200);
    expect(clerk.requests).toEqual([]);
    await service.stop();
    await clerk.stop();
    await stage.clear();
  });
});
