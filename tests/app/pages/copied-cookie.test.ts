import { beforeEach, describe, expect, it } from "vitest";
import { dayMs, hourMs } from "@/lib/config/durations";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";

/* A browser's cookies that are used from several networks: by someone who has copied them, or by the phone itself. */

const home = "127.30.0.1";
const thiefs = "127.31.0.1";
const words = (...networks: string[]) =>
  `Last seen from${networks.map((address) => address.replace(/\d+$/, "0/24")).join(", ")}`;

describe.each(engines)("a browser's cookies, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });
  let accounts = 0;
  let email = "";
  let owner: Browser;

  beforeEach(async () => {
    email = `ceo${++accounts}@example.com`;
    await service.adminJson("account", "add", email, "--plan", "licensed");
    owner = await signIn();
  });

  const signIn = async () => {
    const browser = new Browser(service, home);
    expect(await browser.redeem(email)).toBe("/home");
    return browser;
  };
  /** The cookies of the owner's browser in another network. */
  const copy = (address: string) => {
    const browser = new Browser(service, address);
    for (const [name, value] of owner.cookies) browser.cookies.set(name, value);
    return browser;
  };
  const access = async (browser: Browser) =>
    (await browser.open("/home/access")).text.replace(/<[^>]+>/g, "");
  const shown = (part: string) => eventually(async () => expect(await access(owner)).toContain(part));
  const warnings = async () =>
    (await mailsTo(service.dataDir, email)).filter(
      ({ subject }) => subject === "A browser of yours is used from several places",
    );
  const sent = () =>
    eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));

  it("show the network of a copy that renews, and tell the owner once when it comes back twice", async () => {
    expect(await access(owner)).not.toContain("Last seen from");
    const thief = copy(thiefs);
    for (let round = 0; round < 4; round++) {
      clock.pass(hourMs);
      await shown(round === 0 ? "active now" : words(home, thiefs));
      if (round === 1) expect(await access(owner)).not.toContain("several places");
      clock.pass(hourMs);
      expect((await thief.open("/home/access")).status).toBe(200);
      await eventually(async () => expect(await access(thief)).toContain(words(thiefs, home)));
    }
    clock.pass(hourMs);
    await shown(words(home, thiefs));
    const page = await access(owner);
    expect(page.match(/Used in several places/g)).toHaveLength(1);
    expect(page).toContain("someone else may have copied its sign-in: sign it out, and sign in again.");
    await eventually(async () => expect(await warnings()).toHaveLength(1));
    clock.pass(4 * dayMs);
    for (const browser of [thief, owner, thief, owner]) {
      await access(browser);
      clock.pass(hourMs);
    }
    await sent();
    expect(await warnings()).toHaveLength(1);
  });

  it("show that of a session token alone, within its minute, and of a secret that makes another token", async () => {
    const token = owner.valueOf("__session");
    const asked = await service.ask("/api/entitlement", {
      from: thiefs,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(asked.status).toBe(200);
    await shown(thiefs.replace(/\d+$/, "0/24"));
    const { id: account } = await service.adminJson<{ id: string }>("account", "show", email);
    const cookie = `office-client=${owner.valueOf("office-client")}`;
    const made = await service.submit(
      "/home/token",
      { account },
      { from: "127.32.0.1", headers: { cookie } },
    );
    expect(made.status).toBe(200);
    await shown("127.32.0.0/24");
  });

  it("of a phone that changes networks all day for a week get it one mail, and its next trips none", async () => {
    for (let change = 0; change < 7 * 24; change++) {
      clock.pass(hourMs);
      await access(copyBack(`127.${40 + (change % 3)}.0.1`));
    }
    await eventually(async () => expect(await warnings()).toHaveLength(1));
    await sent();
    expect(await warnings()).toHaveLength(1);
    const [{ renewed_from }] = (await stage.query(
      `SELECT renewed_from FROM local_sessions WHERE account_id = (SELECT id FROM accounts WHERE email = '${email}')`,
    )) as [{ renewed_from: string }];
    expect(renewed_from.split(" "), "bounded").toHaveLength(8);
  });

  /** The same browser, elsewhere. */
  const copyBack = (address: string) => {
    owner = copy(address);
    return owner;
  };

  it("of one trip and back, and of an address that changes in its network, tell no one", async () => {
    for (const address of [home, "127.30.0.9", thiefs, "127.31.0.7", "127.30.0.5", home]) {
      clock.pass(8 * hourMs);
      await access(copyBack(address));
    }
    await shown(words(home, thiefs));
    expect(await access(owner)).not.toContain("several places");
    await sent();
    expect(await warnings()).toEqual([]);
  });
});
