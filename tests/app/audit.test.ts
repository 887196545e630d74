import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { answerDevice, connectDevice } from "@/tests/support/owner";

const email = "ceo@example.com";
const chromium = {
  kind: "browser",
  name: "Chromium on Linux",
  lastDate: expect.any(String),
  confirmed: { by: "code", at: expect.any(String) },
};
const device = { kind: "app", name: "A device", origin: "a device", lastDate: expect.any(String) };

describe.each(engines)("what an owner does in a browser, on $name", async (engine) => {
  const { service } = await borrowService(engine);
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const owner = { who: "owner", whom: email };

  let read = 0;
  /** The entries since this was last asked, the oldest first. */
  async function news() {
    const entries = (await service.audit(email)).reverse();
    const since = entries.slice(read);
    read = entries.length;
    return since.map(({ who, what, whom, before, after }) => ({
      who,
      what,
      whom,
      before: before && Object.values(before),
      after: after && Object.values(after),
    }));
  }

  it("is written down: signing in, copying a token, ending sessions and signing out", async () => {
    await news();
    const browser = await Browser.signIn(service, email);
    expect(await news()).toEqual([{ ...owner, what: "sign in", before: [], after: [chromium] }]);

    await browser.pressAtHome("/home/token");
    const program = { kind: "program", name: expect.stringMatching(/^Token copied on /) };
    expect(await news()).toEqual([{ ...owner, what: "token", before: [], after: [program] }]);

    await browser.pressAtHome("/home/sessions/end", { session: "tokens" });
    expect(await news()).toEqual([{ ...owner, what: "session end", before: [program], after: [] }]);
    await browser.pressAtHome("/home/sessions/end", { session: "tokens" });
    expect(await news()).toEqual([]);

    await browser.submit("/sign-in/out");
    expect(await news()).toEqual([{ ...owner, what: "sign out", before: [chromium], after: [] }]);
  });

  it("is written down: letting an app in, turning one away, and its own end", async () => {
    const browser = await Browser.signIn(service, email);
    await news();
    const { text } = await service.submit("/oauth/device", { client_id: "native" });
    await answerDevice(browser, JSON.parse(text).user_code, "decline");
    expect(await news()).toEqual([
      { ...owner, what: "app decline", before: null, after: [device.name, device.origin] },
    ]);

    const { refresh_token } = await connectDevice(browser, service);
    expect(await news()).toEqual([
      { ...owner, what: "app approve", before: null, after: [device.name, device.origin] },
      { who: "app", whom: email, what: "app begin", before: [], after: [device] },
    ]);

    await service.submit("/oauth/revoke", { client_id: "native", token: refresh_token });
    expect(await news()).toEqual([{ who: "app", whom: email, what: "app end", before: [device], after: [] }]);
  });
});
