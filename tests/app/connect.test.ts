import { beforeAll, describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo, mailTo } from "@/tests/support/mailbox";
import { postLegacy } from "@/tests/support/mcp";
import { type App, makeApp, redirectUri } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, answerShown, connectApp, goOn, readQuestion } from "@/tests/support/owner";

const email = "ceo@example.com";

describe.each(engines)("connecting an app, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.admit(service, email, "--plan", "licensed", "--credits", "5");
  });

  const entitlement = (token: string) => service.statusFor(token);

  describe("by a library", async () => {
    const app = await makeApp(service);
    const connect = () => connectApp(app, browser, service);

    it("shows the owner the client, what it can and can never do, and both buttons", async () => {
      const { address } = await app.ask();
      const asked = await browser.open(address.href.replace(service.url, ""));
      expect(asked.headers.location).toMatch(/\/connect\?request=[\w-]{12}$/);
      const { text, status, headers } = await browser.open("/connect");
      expect(status).toBe(200);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(text).toContain("A program on this computer wants to connect");
      expect(text).toContain(`Your answer goes to <strong>${new URL(redirectUri).host}</strong>`);
      const never = text.slice(text.indexOf("<h2>Approving never lets it</h2>"));
      for (const words of ["Send, publish or deploy anything", "Charge anyone", "Approve in your place"])
        expect(never).toContain(words);
      expect(text).toContain(email);
      expect(text).toMatch(/value="approve"/);
      expect(text).toMatch(/value="decline"/);
    });

    it("issues a token of one hour for the API, in the app's own session", async () => {
      const tokens = await connect();
      expect(tokens.expires_in).toBeLessThanOrEqual(3600);
      expect(await entitlement(tokens.access_token)).toBe(200);
      const sessions = await service.adminJson<object[]>("session", "list", email);
      expect(sessions).toContainEqual(
        expect.objectContaining({ kind: "app", name: "A program on this computer" }),
      );
    });

    it("renews the token with a refresh token that is rotated each time", async () => {
      const first = await connect();
      const second = await app.refresh(first.refresh_token);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(await entitlement(second.access_token)).toBe(200);
      const third = await app.refresh(second.refresh_token);
      expect(await entitlement(third.access_token)).toBe(200);
    });

    it("revokes a refresh token (RFC 7009) and every token of its grant", async () => {
      const tokens = await connect();
      await app.revoke(tokens.refresh_token);
      await eventually(async () => expect(await entitlement(tokens.access_token)).toBe(401));
      await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    });

    // cloudflare/cloudflare-os#41
    it("is disconnected by the revocation of its access token too, which never fails", async () => {
      const tokens = await connect();
      const revoke = async (token: string, client_id = "native") => {
        const { status, headers, text } = await service.submit("/oauth/revoke", { client_id, token });
        expect(headers["content-type"]).toMatch(/^application\/json/);
        return [status, status === 200 ? text : JSON.parse(text).error];
      };
      const ours = await service.token("ceo@example.com");
      expect(await revoke(ours)).toEqual([400, "unsupported_token_type"]);
      expect(await service.statusFor(ours)).toBe(200);
      expect(await revoke(`${tokens.access_token}x`)).toEqual([200, "{}"]);
      expect(await entitlement(tokens.access_token)).toBe(200);
      expect(await revoke(tokens.access_token)).toEqual([200, "{}"]);
      await eventually(async () => expect(await entitlement(tokens.access_token)).toBe(401));
      await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
      expect(await revoke(tokens.access_token)).toEqual([200, "{}"]);
      expect(await revoke(tokens.refresh_token ?? "")).toEqual([200, "{}"]);
    });

    it("connects a device by its code", async () => {
      const device = await app.askByDevice();
      // SecureAuthCorp/oauth2c#133
      expect(device).toMatchObject({ verification_uri: `${service.url}/connect`, interval: 5 });
      const { headers } = await answerDevice(browser, ` ${device.user_code.toLowerCase()} `);
      expect(headers.location).toContain("/connect?answered=user_code&outcome=approved&");
      expect((await browser.open(headers.location ?? "")).text).toContain("Return to your device.");
      const tokens = await device.poll();
      expect(await entitlement(tokens.access_token)).toBe(200);
      expect((await app.refresh(tokens.refresh_token)).access_token).toMatch(/./);
    });

    it("reports to the app and the device that the owner declined", async () => {
      const { address, redeem } = await app.ask();
      const back = new URL(await answerApp(browser, service, address.href, "decline"));
      expect(back.searchParams.get("error")).toBe("access_denied");
      expect(back.searchParams.get("iss")).toBe(service.url);
      expect(back.searchParams.has("code")).toBe(false);
      await expect(redeem(back)).rejects.toMatchObject({ error: "access_denied" });
      const device = await app.askByDevice();
      const { headers } = await answerDevice(browser, device.user_code, "decline");
      expect(headers.location).toContain("/connect?answered=user_code&outcome=declined&");
      expect((await browser.open(headers.location ?? "")).text).toContain(
        "Nothing was connected. You can close this page.",
      );
      await expect(device.poll()).rejects.toMatchObject({ error: "access_denied" });
    });
  });

  it("grants the only scope to an app that names none", async () => {
    const app = await makeApp(service);
    const { address, redeem } = await app.ask();
    address.searchParams.delete("scope");
    const tokens = await redeem(new URL(await answerApp(browser, service, address.href)));
    expect(await entitlement(tokens.access_token)).toBe(200);
  });

  it("leads sign-in back to a request that waits in this browser, until it is answered", async () => {
    const app = await makeApp(service);
    const { user_code } = await app.askByDevice();
    const { address } = await app.ask();
    for (const open of [
      (signedOut: Browser) => signedOut.submit("/connect/device", { user_code }),
      (signedOut: Browser) => signedOut.open(address.href.replace(service.url, "")),
    ]) {
      const owner = new Browser(service);
      await open(owner);
      expect(await owner.redeem(email)).toBe("/connect");
      expect((await owner.open("/sign-in")).headers.location).toBe("/connect");
      await answerShown(owner, "decline");
      expect((await owner.open("/sign-in")).headers.location).toBe("/home");
    }
  });

  it("leads on to it an owner who leaves another's account, which can then approve no more", async () => {
    const app = await makeApp(service);
    const shared = await Browser.signIn(service, email);
    const { address } = await app.ask();
    const asked = await shared.open(address.href.replace(service.url, ""));
    const { text } = await shared.open(String(asked.headers.location));
    expect(text).toMatch(/<button [^>]*value="leave"[^>]* name="answer"[^>]*>Not you\?</);
    const left = new Map(shared.cookies);
    expect(await answerShown(shared, "leave")).toMatchObject({
      status: 303,
      headers: expect.objectContaining({ location: "/sign-in" }),
    });
    await service.adminJson("account", "add", "other@example.com", "--plan", "licensed");
    expect(await shared.redeem("other@example.com")).toBe("/connect");
    expect((await shared.open("/connect")).text).toContain("<strong>other@example.com</strong>");
    for (const [name, value] of left) shared.cookies.set(name, value);
    expect((await shared.open("/home")).headers.location).toBe("/sign-in?problem=ended");
  });

  it("leads an invited person on to it as well", async () => {
    const { user_code } = await (await makeApp(service)).askByDevice();
    const guest = new Browser(service);
    await guest.submit("/connect/device", { user_code });
    await service.adminJson("invite", "guest@example.com");
    const { text = "" } = await mailTo(service.dataDir, "guest@example.com", /invitation/);
    const { searchParams } = new URL(/^http.*\/invitation\?.*$/m.exec(text)?.[0] ?? "");
    const fields = { ...Object.fromEntries(searchParams), email: "guest@example.com" };
    expect((await guest.submit("/invitation/accept", fields)).headers.location).toBe("/connect");
  });

  it("leads sign-in home if the request is not this service's", async () => {
    for (const planted of ["x", "device.x", "https://elsewhere.example", "//elsewhere.example"]) {
      const owner = new Browser(service);
      owner.cookies.set("office-request", planted);
      expect(await owner.redeem(email), planted).toBe("/home");
    }
  });

  it("shows a device's code as the device does, however it is typed", async () => {
    const app = await makeApp(service);
    const { user_code } = await app.askByDevice();
    expect(user_code, "of 25 billion").toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    const bare = user_code.replace("-", "");
    for (const typed of [
      user_code,
      `First copy your one-time code: ${user_code}. Then open ${service.url}/connect`,
      bare,
      bare.toLowerCase(),
      ` ${[...bare].join(" ")} `,
      `${bare.slice(0, 4)} – ${bare.slice(4)}`,
      bare.replace(/./g, (letter) => String.fromCodePoint(0xfee0 + (letter.codePointAt(0) ?? 0))), // full-width
    ]) {
      await browser.submit("/connect/device", { user_code: typed });
      const { text } = await browser.open("/connect");
      expect(text, typed).toContain(`<p class="device-code">${user_code}</p>`);
    }
  });

  it.each([
    ["approve", "Approved", "Continue to the app"],
    ["decline", "Declined", "Nothing was connected. Return to the app"],
  ] as const)("says what was answered before it leads to the app: %s", async (word, heading, link) => {
    const owner = await Browser.signIn(service, email);
    const { address } = await (await makeApp(service)).ask();
    await owner.open(address.href.replace(service.url, ""));
    const answered = String((await answerShown(owner, word)).headers.location);
    const [, handle] = /request=([\w-]{12})$/.exec(answered) ?? [];
    const { text } = await owner.open(answered);
    expect(text).toContain(`<title>${heading} · Corner Office</title>`);
    expect(text).toContain(`<h1>${heading}</h1><p><a href="/oauth/resume?request=${handle}">${link}</a></p>`);
  });

  it("claims no answer by a link from elsewhere", async () => {
    const app = await makeApp(service);
    const owner = await Browser.signIn(service, email);
    const { address } = await app.ask();
    await owner.open(address.href.replace(service.url, ""));
    const other = await Browser.signIn(service, email);
    const { user_code } = await app.askByDevice();
    const theirs = String((await answerDevice(other, user_code)).headers.location);
    for (const reload of ["opened", "opened again"])
      expect((await other.open(theirs)).text, reload).toContain("<h1>Approved</h1>");
    for (const browser of [owner, new Browser(service)]) {
      for (const end of ["", "&request=", "&request=abc", theirs.slice(theirs.indexOf("&request="))]) {
        for (const answered of ["app", "request", "user_code"])
          for (const outcome of ["approved", "declined", "taken"]) {
            const path = `/connect?answered=${answered}&outcome=${outcome}${end}`;
            expect((await browser.open(path)).headers.location, path).toBe("/connect?problem=over");
          }
      }
    }
  });

  /** Starts two requests, of an app in this browser and of a device. Returns how to open and answer each. */
  async function askTwice(app: App) {
    browser = await Browser.signIn(service, email);
    const { address, redeem } = await app.ask();
    const { user_code, poll } = await app.askByDevice();
    const waiting = {
      request: () => browser.open(address.href.replace(service.url, "")),
      user_code: () => browser.submit("/connect/device", { user_code }),
    };
    const say = async (fields: Record<string, string>, answer: string) =>
      (await browser.submit("/connect/answer", { ...fields, answer })).headers.location;
    return { waiting: Object.entries(waiting), redeem, poll, say };
  }

  it("takes the owner's first answer, and also redirects after a second one", async () => {
    const { waiting, say } = await askTwice(await makeApp(service));
    for (const [by, open] of waiting) {
      await open();
      const fields = await readQuestion(browser);
      for (const word of ["decline", "approve", "decline"])
        expect(await say(fields, word)).toContain(`/connect?answered=${by}&outcome=declined&`);
    }
    const entries = await service.audit(email);
    expect(entries.slice(0, 2).map(({ what }) => what)).toEqual(["app decline", "app decline"]);
  });

  it("approves an app once if the owner clicks twice before the response arrives", async () => {
    const { waiting, say, redeem, poll } = await askTwice(await makeApp(service));
    const count = async () => (await service.adminJson<object[]>("session", "list", email)).length;
    const before = await count();
    const mailed = async () =>
      (await mailsTo(service.dataDir, email)).filter(({ subject }) => subject?.startsWith("An app was"))
        .length;
    const queued = () => stage.query("SELECT id FROM sign_in_mails");
    await eventually(async () => expect(await queued()).toEqual([]));
    const mailedBefore = await mailed();
    let back = "";
    for (const [by, open] of waiting) {
      await open();
      const fields = await readQuestion(browser);
      const clicks = await Promise.all([1, 2, 3].map(() => say(fields, "approve")));
      const [answered = "", ...others] = new Set(clicks);
      expect(others).toEqual([]);
      expect(answered).toContain(`/connect?answered=${by}&outcome=approved&`);
      if (by === "request") back = String((await goOn(browser, answered)).headers.location);
    }
    for (const tokens of [await redeem(new URL(back)), await poll()])
      expect(await entitlement(tokens.access_token)).toBe(200);
    expect(await count()).toBe(before + 2);
    await eventually(async () => expect(await queued()).toEqual([]));
    expect(await mailed(), "one mail for each approval").toBe(mailedBefore + 2);
  });

  const mailedTo = async (to: string) => {
    await eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    return (await mailsTo(service.dataDir, to)).filter(({ subject }) => subject?.startsWith("An app was"))
      .length;
  };
  const appsOf = (of: string) => service.adminJson<object[]>("session", "list", of);

  it("connects a device with the account that approves first, and tells another one that it came second", async () => {
    const app = await makeApp(service);
    const admit = async (of: string) => ({
      of,
      owner: await Browser.admit(service, of, "--plan", "licensed"),
    });
    const owners = [await admit("first@example.com"), await admit("second@example.com")] as const;
    for (let round = 0; round < 3; round++) {
      const { user_code, poll } = await app.askByDevice();
      const before = await Promise.all(owners.map(async ({ of }) => [await appsOf(of), await mailedTo(of)]));
      const shown: Record<string, string>[] = [];
      for (const { owner } of owners) {
        await owner.submit("/connect/device", { user_code });
        shown.push(await readQuestion(owner));
      }
      const answers = await Promise.all(
        owners.map(({ owner }, at) => owner.submit("/connect/answer", { ...shown[at], answer: "approve" })),
      );
      const outcomes = answers.map(({ headers }) => /outcome=(\w+)/.exec(headers.location ?? "")?.[1]);
      expect([...outcomes].sort()).toEqual(["approved", "taken"]);
      const late = outcomes[0] === "taken" ? 0 : 1;
      const { of, owner } = owners[late];
      const { text } = await owner.open(answers[late]?.headers.location ?? "");
      expect(text).toContain("<h1>Nothing was connected</h1>");
      expect(text).toContain("Someone else approved this first, for another account.");
      expect(await appsOf(of)).toEqual(before[late]?.[0]);
      expect(await mailedTo(of)).toBe(before[late]?.[1]);
      expect(await entitlement((await poll()).access_token)).toBe(200);
    }
  });

  it("says that an app is connected only once it was sent its code", async () => {
    await service.adminJson("connect", "add", "gone", "Gone", redirectUri);
    const app = await makeApp(service);
    const owner = await Browser.signIn(service, email);
    const counted = async () => [(await appsOf(email)).length, await mailedTo(email)];
    const [sessions = 0, mails = 0] = await counted();
    const asked = await app.ask({ client_id: "gone" });
    await owner.open(asked.address.href.replace(service.url, ""));
    const answered = String((await answerShown(owner)).headers.location);
    expect((await owner.open(answered)).text).not.toContain("Connected");
    expect(await counted()).toEqual([sessions, mails]);
    await service.adminJson("connect", "remove", "gone");
    expect((await goOn(owner, answered)).headers.location ?? "").not.toContain("code=");
    expect(await counted(), "it is not known any more").toEqual([sessions, mails]);
    const { address, redeem } = await app.ask();
    const back = await answerApp(owner, service, address.href);
    expect(await counted(), "with its code").toEqual([sessions + 1, mails + 1]);
    expect(await entitlement((await redeem(new URL(back))).access_token)).toBe(200);
    expect(await counted()).toEqual([sessions + 1, mails + 1]);
  });

  it("says that a device is connected only once it was sent its first tokens", async () => {
    const app = await makeApp(service);
    const owner = await Browser.signIn(service, email);
    const counted = async () => [(await appsOf(email)).length, await mailedTo(email)];
    const shown = async (path: string) => (await owner.open(path)).text.split("A device").length;
    const approve = async () => {
      const device = await app.askByDevice();
      const { headers } = await answerDevice(owner, device.user_code);
      return { ...device, answered: String(headers.location) };
    };
    const minutes = 15 * 60_000 + 2000;
    const lasting = async () => {
      const rows = await stage.query(
        `SELECT 1 FROM connect_state WHERE expires_at_ms > ${Date.now() + minutes}`,
      );
      return rows.length;
    };
    const lastingBefore = await lasting();
    const before = await counted();
    const [sessions = 0, mails = 0] = before;
    const listed = [await shown("/home"), await shown("/home/access")];
    const { poll, answered } = await approve();
    expect((await owner.open(answered)).text).toContain("<h1>Approved</h1>");
    expect(await counted()).toEqual(before);
    expect([await shown("/home"), await shown("/home/access")]).toEqual(listed);
    expect(await lasting(), "what is left if it never polls lasts a quarter of an hour").toBe(lastingBefore);
    const { access_token, refresh_token } = await poll();
    expect(await entitlement(access_token)).toBe(200);
    expect(await counted(), "with its tokens").toEqual([sessions + 1, mails + 1]);
    expect(await lasting(), "its grant and refresh token").toBe(lastingBefore + 2);
    expect(await shown("/home/access")).toBeGreaterThan(listed[1] ?? 0);
    expect(await entitlement((await app.refresh(refresh_token)).access_token)).toBe(200);
    expect(await counted(), "once").toEqual([sessions + 1, mails + 1]);
  });

  it("ends with everything else a device's approval that was sent nothing yet", async () => {
    const app = await makeApp(service);
    const whom = "ends@example.com";
    const owner = await Browser.admit(service, whom, "--plan", "licensed");
    const endApps = () => owner.pressAtHome("/home/sessions/end", { session: "apps" });
    for (const end of [endApps, () => service.adminJson("session", "end", whom, "--all")]) {
      const { user_code, poll } = await app.askByDevice();
      await answerDevice(owner, user_code);
      await end();
      await expect(poll()).rejects.toMatchObject({ error: "invalid_grant" });
      expect((await appsOf(whom)).filter((of) => "kind" in of && of.kind === "app")).toEqual([]);
      expect(await mailedTo(whom)).toBe(0);
    }
  });

  it("allows 300 requests in ten minutes from one address, of any kind", async () => {
    const ask = () => service.ask("/oauth/resume", { from: "127.41.0.1" });
    for (let time = 0; time < 300; time++) expect((await ask()).status).not.toBe(429);
    const { status, headers } = await ask();
    expect(status).toBe(429);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect((await service.ask("/oauth/resume", { from: "127.41.0.2" })).status).not.toBe(429);
  });

  it("publishes its metadata at OpenID Connect's path too, and promises no ID token there", async () => {
    const { status, headers, text } = await service.ask("/.well-known/openid-configuration");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    const found = JSON.parse(text);
    expect(found).toEqual({
      ...JSON.parse((await service.ask("/.well-known/oauth-authorization-server")).text),
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    });
    expect(found.scopes_supported).toEqual(["account:read"]);
    expect(Object.keys(found)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/userinfo|claims|end_session/)]),
    );
  });

  it("returns no ID token to an app that finds it by OpenID Connect's path and asks for openid", async () => {
    const app = await makeApp(service, "oidc");
    for (const scope of ["openid account:read", "openid"]) {
      const tokens = await connectApp(app, browser, service, { scope });
      expect(tokens).toMatchObject({ access_token: expect.any(String), scope: "account:read" });
      expect(tokens).not.toHaveProperty("id_token");
      expect(await entitlement(tokens.access_token)).toBe(200);
    }
  });

  it("publishes the whole service as a resource, whose token is valid for the API and MCP", async () => {
    const { status, headers, text } = await service.ask("/.well-known/oauth-protected-resource");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(text)).toEqual({
      resource: service.url,
      resource_name: "Corner Office",
      authorization_servers: [service.url],
      scopes_supported: ["account:read"],
      bearer_methods_supported: ["header"],
      dpop_signing_alg_values_supported: ["ES256", "Ed25519", "EdDSA"],
      resource_documentation: `${service.url}/docs/connect`,
    });
    const app = await makeApp(service);
    for (const resource of [service.url, `${service.url}/`]) {
      const { access_token } = await connectApp(app, browser, service, { resource });
      const authorization = `Bearer ${access_token}`;
      expect(await entitlement(access_token), resource).toBe(200);
      const message = { method: "tools/call", params: { name: "get_entitlement", arguments: {} } };
      const called = await postLegacy(service, message, { headers: { authorization } });
      expect(called.status, resource).toBe(200);
    }
  });

  it("publishes its metadata, and returns 404 in JSON for unsupported endpoints", async () => {
    const server = await service.ask("/.well-known/oauth-authorization-server");
    expect(JSON.parse(server.text)).toMatchObject({
      issuer: service.url,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      registration_endpoint: `${service.url}/oauth/register`,
      client_id_metadata_document_supported: true,
    });
    for (const path of ["/oauth/userinfo", "/register"]) {
      const { status, text } = await service.ask(path);
      expect(status, path).toBe(404);
      expect(JSON.parse(text).error.code).toBe("not_found");
    }
  });
});
