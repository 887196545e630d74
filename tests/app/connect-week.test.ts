import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { engines, type Stage } from "@/tests/support/engines";
import { type App, openidClient, type Tokens } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const hourMs = 60 * 60 * 1000;
const refused = { error: "invalid_grant" };
/** The `exp` of an access token. */
const endOf = ({ access_token }: Tokens): number =>
  JSON.parse(Buffer.from(access_token.split(".")[1] ?? "", "base64url").toString()).exp;

describe.each(engines)("an app that was approved once, on $name", (engine) => {
  const clock = makeClock();
  let stage: Stage;
  let service: Service;
  let app: App;

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start({ ...stage.environment, ...clock.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    app = await openidClient.makeApp(service);
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const entitlement = async ({ access_token }: Tokens) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${access_token}` } })).status;

  async function connect(): Promise<Tokens> {
    const { address, redeem } = await app.ask();
    const browser = await Browser.signIn(service, email);
    return redeem(new URL(await answerApp(browser, service, address.href)));
  }

  /** Lets eight hours pass, in which the token expires, and renews it like the app does. */
  async function goOn(tokens: Tokens): Promise<Tokens> {
    clock.pass(8 * hourMs);
    expect(await entitlement(tokens), "a token of eight hours ago").toBe(401);
    const renewed = await app.refresh(tokens.refresh_token);
    expect(renewed.expires_in).toBeLessThanOrEqual(3600);
    expect(await entitlement(renewed)).toBe(200);
    return renewed;
  }

  it("renews its token for seven days without the owner, and is refused afterwards", async () => {
    let tokens = await connect();
    for (let hours = 8; hours < 7 * 24; hours += 8) tokens = await goOn(tokens);
    clock.pass(7.5 * hourMs);
    tokens = await app.refresh(tokens.refresh_token);
    const sessions = await service.adminJson<{ kind: string; endsAt: string }[]>("session", "list", email);
    const { endsAt = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    expect(endOf(tokens), "the last token is over with the session").toBe(
      Math.floor(Date.parse(endsAt) / 1000),
    );
    const entries = await service.adminJson<{ what: string }[]>("audit", "list", "--of", email);
    expect(entries.filter(({ what }) => what === "app approve")).toHaveLength(1);
    clock.pass(hourMs);
    expect(await entitlement(tokens)).toBe(401);
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
  });

  it("is refused from its next request on after `admin session end`, on any day", async () => {
    let tokens = await connect();
    for (let day = 0; day < 5; day++) tokens = await goOn(tokens);
    const sessions = await service.adminJson<{ id: string; kind: string }[]>("session", "list", email);
    const { id = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    await service.adminJson("session", "end", email, id);
    expect(await entitlement(tokens)).toBe(401);
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
  });
});
