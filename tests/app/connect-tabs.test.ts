import { beforeAll, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { authorizePath, redeemCode } from "@/tests/support/oauth-libraries";
import { answerDevice, deviceGrant, goOn, readQuestion } from "@/tests/support/owner";

/* Several requests in one browser at a time, and the way back to an app that its browser did not open. */

const email = "ceo@example.com";
const scheme = "com.example.studio:/signed-in";
const minute = 60_000;

describe.each(engines)("an owner with several tabs, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });
  let owner: Browser;
  beforeAll(async () => {
    await service.adminJson("connect", "add", "studio", "Studio for iPhone", scheme);
    await service.adminJson("connect", "add", "desk", "Desk", "http://127.0.0.1/callback");
    owner = await Browser.admit(service, email, "--plan", "licensed");
  });

  const redirects: Record<string, string> = { studio: scheme, desk: "http://127.0.0.1:51000/callback" };
  /** Opens the request of an app in a new tab. Returns the address of the tab's page. */
  const openTab = async (browser: Browser, client: string, state = client) => {
    const { headers } = await browser.open(authorizePath(client, redirects[client] ?? "", { state }));
    return String(headers.location);
  };
  const openDevice = async (browser: Browser) => {
    const asked = JSON.parse((await service.submit("/oauth/device", { client_id: "native" })).text);
    const { headers } = await browser.submit("/connect/device", { user_code: asked.user_code });
    return { page: String(headers.location), ...asked };
  };
  const answer = async (browser: Browser, fields: Record<string, string>, word = "approve") =>
    String((await browser.submit("/connect/answer", { ...fields, answer: word })).headers.location);
  const redeem = (client: string, back: string) => redeemCode(service, client, redirects[client] ?? "", back);
  const apps = async () =>
    (await service.adminJson<{ kind: string; name: string }[]>("session", "list", email))
      .filter(({ kind }) => kind === "app")
      .map(({ name }) => name);

  it("answers on each page the request that it shows, in any order, of apps and devices alike", async () => {
    const studio = await openTab(owner, "studio");
    const device = await openDevice(owner);
    const desk = await openTab(owner, "desk");
    for (const [page, words] of [
      [studio, "<bdi>Studio for iPhone</bdi>"],
      [device.page, device.user_code],
      [desk, "<bdi>Desk</bdi>"],
      ["/connect", "<bdi>Desk</bdi>"],
    ]) {
      expect((await owner.open(page)).text, "after a reload").toContain(words);
    }
    const [ofStudio, ofDevice, ofDesk] = [
      await readQuestion(owner, studio),
      await readQuestion(owner, device.page),
      await readQuestion(owner, desk),
    ];
    const answered = await answer(owner, ofStudio);
    const declined = await answer(owner, ofDesk, "decline");
    // Each tab goes on by itself, whichever was answered last.
    const toStudio = String((await goOn(owner, answered)).headers.location);
    expect(toStudio.startsWith(`${scheme}?code=`)).toBe(true);
    const toDesk = new URL(String((await goOn(owner, declined)).headers.location));
    expect(toDesk.searchParams.get("error")).toBe("access_denied");
    expect(toDesk.searchParams.get("state")).toBe("desk");
    expect((await redeem("studio", toStudio)).status).toBe(200);
    expect((await owner.open("/home")).text).toContain("An app is waiting for your approval.");
    expect((await owner.open("/connect")).text, "the one that is left").toContain(device.user_code);
    await owner.open(await answer(owner, ofDevice));
    const { device_code } = device;
    const polled = await service.submit("/oauth/token", {
      client_id: "native",
      grant_type: deviceGrant,
      device_code,
    });
    expect(polled.status).toBe(200);
    expect((await owner.open("/home")).text).not.toContain("waiting for your approval");
    expect((await apps()).sort()).toEqual(["A device", "Studio for iPhone"]);
  });

  it("comes back to the request of the tab in which they sign in", async () => {
    const signedOut = new Browser(service);
    const first = await openTab(signedOut, "studio");
    await openTab(signedOut, "desk");
    expect(await answer(signedOut, await readQuestion(signedOut, first), "sign-in")).toBe("/sign-in");
    expect(await signedOut.redeem(email)).toBe("/connect");
    expect((await signedOut.open("/connect")).text).toContain("<bdi>Studio for iPhone</bdi>");
  });

  it("has the newest five requests at most, and the page of an older one says that it is over", async () => {
    const browser = await Browser.signIn(service, email);
    const pages: string[] = [];
    for (let n = 0; n < 6; n++) pages.push(await openTab(browser, "desk", `${n}`));
    expect(browser.valueOf("office-request").length).toBeLessThan(400);
    const [oldest = "", ...others] = pages;
    expect((await browser.open(oldest)).headers.location).toBe("/connect?problem=over");
    for (const [n, page] of others.entries()) {
      const answered = await answer(browser, await readQuestion(browser, page));
      const back = new URL(String((await goOn(browser, answered)).headers.location));
      expect(back.searchParams.get("state")).toBe(`${n + 1}`);
    }
  });

  it("answers nothing that another browser began, whatever the page and its form name", async () => {
    const before = await apps();
    const other = await Browser.signIn(service, email);
    const theirs = await openTab(other, "studio");
    const device = await openDevice(other);
    const own = await openTab(owner, "desk");
    for (const page of [theirs, device.page]) {
      const { request } = await readQuestion(other, page);
      const { account } = await readQuestion(owner, own);
      expect(await answer(owner, { request, account })).toBe("/connect");
      expect((await owner.open(page)).headers.location).toBe("/connect?problem=over");
      const handle = new URL(page, service.url).searchParams.get("request");
      expect((await owner.open(`/oauth/resume?request=${handle}`)).status).toBe(400);
    }
    expect(await apps()).toEqual(before);
  });

  describe("whose browser does not open the app", () => {
    const approved = async (browser = owner) => {
      const page = await openTab(browser, "studio");
      return answer(browser, await readQuestion(browser, page));
    };

    it("is led there again with the same code, by the link, after reload and back, while it lives", async () => {
      const answered = await approved();
      const first = String((await goOn(owner, answered)).headers.location);
      expect(first.startsWith(`${scheme}?code=`)).toBe(true);
      const bystander = await openTab(owner, "desk");
      for (let time = 0; time < 3; time++) {
        clock.pass(minute);
        const again = await goOn(owner, answered);
        expect([again.status, again.headers.location]).toEqual([303, first]);
      }
      const redeemed = await redeem("studio", first);
      expect(redeemed.status).toBe(200);
      // The app has it: its code is sent to no one again, and is good for nothing.
      const { headers } = await goOn(owner, answered);
      expect(headers.location).toBe(answered.replace("answered=request", "answered=app"));
      expect((await owner.open(String(headers.location))).text).toContain("The app has what it needs.");
      const { access_token } = JSON.parse(redeemed.text);
      expect(await service.statusFor(access_token)).toBe(200);
      expect((await redeem("studio", first)).status).toBe(400);
      expect(await service.statusFor(access_token), "used twice by the app, as before").toBe(401);
      expect((await owner.open(bystander)).text).toContain("<bdi>Desk</bdi>");
    });

    it("gets one code, also with two tabs at once, and only in the browser that approved", async () => {
      const answered = await approved();
      const both = await Promise.all([goOn(owner, answered), goOn(owner, answered)]);
      const [back = "", ...others] = new Set(both.map(({ headers }) => headers.location));
      expect(others).toEqual([]);
      const other = await Browser.signIn(service, email);
      expect((await goOn(other, answered)).status).toBe(400);
      const both_redeemed = await Promise.all([redeem("studio", back), redeem("studio", back)]);
      expect(both_redeemed.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it("reads that the request is over when its code has expired, which is not made anew", async () => {
      const answered = await approved();
      const back = String((await goOn(owner, answered)).headers.location);
      clock.pass(5 * minute);
      const late = await goOn(owner, answered);
      expect(late.status).toBe(400);
      expect(late.headers).not.toHaveProperty("location");
      const [, handle] = answered.split("&request=");
      const page = await service.ask(`/oauth/resume?request=${handle}`, {
        headers: { cookie: owner.cookie, accept: "text/html" },
      });
      expect(page.headers.location).toBe("/connect?problem=over");
      expect((await redeem("studio", back)).status).toBe(400);
    });

    it("can go back to the app with a refusal too", async () => {
      const page = await openTab(owner, "studio");
      const declined = await answer(owner, await readQuestion(owner, page), "decline");
      for (let time = 0; time < 2; time++) {
        expect((await goOn(owner, declined)).headers.location).toContain(`${scheme}?error=access_denied`);
      }
    });

    it("is not led to an app before the answer", async () => {
      const page = await openTab(owner, "studio");
      expect((await owner.open(page.replace("/connect", "/oauth/resume"))).headers.location).toBe(page);
      expect((await owner.open(page)).text).toContain('value="approve"');
    });
  });

  it("sees what became of a request when its page is opened again", async () => {
    const device = await openDevice(owner);
    const { headers } = await answerDevice(owner, device.user_code);
    expect((await owner.open(device.page)).headers.location, "typed twice").toBe(headers.location);
    await owner.open(String(headers.location));
    expect((await owner.open(device.page)).headers.location, "and after that").toBe(headers.location);
    clock.pass(11 * minute);
    expect((await owner.open(device.page)).headers.location, "and is kept no longer").toBe(
      "/connect?problem=over",
    );
  });
});
