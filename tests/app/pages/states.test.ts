import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startService, startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { licences } from "@/tests/support/licences";
import { authorizePath, makeApp, redirectUri } from "@/tests/support/oauth-libraries";
import { connectApp } from "@/tests/support/owner";
import { byChance, linesOf, readAll } from "@/tests/support/page-lines";
import type { Buyer } from "@/tests/support/shop";

/*
 * All that an owner reads in each state, what each link and button leads to, and how an operator's command explains it: one
 * file a state in `states/`. A change of words is written into them by `npx vitest run tests/app/pages/states.test.ts -u`;
 * read what it changed.
 */

const clock = makeClock(Date.UTC(2027, 2, 1, 12));
const ended = ["--trial-ends", "2027-01-01"];
const ofPlan = ["/api/entitlement", "/home", "/home/billing"];
const ofAccount = ["/home", "/home/access", "/home/account"];
const all = [...ofPlan, "/home/access", "/home/account"];

const ofStrangers = {
  "sign-in": ["expired", "used", "gone", "ended", "email", "too-many&of=client&wait=90", "unavailable"].map(
    (problem) => `/sign-in?problem=${problem}`,
  ),
  waitlist: ["", "?joined", "?confirmed", "?token=x", "?problem=email", "?problem=full"].map(
    (query) => `/waitlist${query}`,
  ),
  connect: ["", "?user_code", "?problem=code", "?problem=again"].map((query) => `/connect${query}`),
  links: ["/invitation", "/unsubscribe", "/keep-account", "/change-email"].flatMap((path) => [
    path,
    `${path}?token=x`,
  ]),
};

/** What an address adds to the lines of its page. */
const notes = {
  "/home/account": [
    "stopped",
    "change",
    "kept",
    "zone",
    "problem=zone",
    "problem=same",
    "problem=unavailable",
  ],
  "/home/access": [
    "removed",
    "renamed",
    "kept",
    "ended=apps",
    "ended=others",
    "problem=name",
    "problem=no-apps",
  ],
  "/home/billing": ["automatic", "limits", "checkout=bought", "checkout=cancelled", "change=price_team"],
};

async function readNotes(browser: Browser): Promise<string> {
  const said: string[] = [];
  const read = async (path: string) =>
    linesOf((await browser.open(path)).text).map((line) => line.replaceAll(byChance, "…"));
  for (const [page, queries] of Object.entries(notes)) {
    const without = new Set(await read(page));
    for (const query of queries) {
      const lines = await read(`${page}?${query}`);
      said.push(`${page}?${query}`, ...lines.filter((line) => !without.has(line)), "");
    }
  }
  return said.join("\n");
}

const expectSaid = (name: string, said: string) =>
  expect(said).toMatchFileSnapshot(`states/${name.replaceAll(" ", "-")}.txt`);

describe.each(engines.slice(0, 1))("an owner's pages", async (engine) => {
  const shop = await startShop(engine, { SUPPORT_EMAIL: "help@example.com", ...clock.environment });
  const { service, stage, stripe } = shop;
  stripe.nowMs = clock.now;
  const admin = (command: string, ...more: string[]) => service.adminJson(...command.split(" "), ...more);
  await admin("plan set trial --limit assistants=3 --limit projects=2");
  await admin(
    "plan set office-licence --title Office --limit assistants=12 --price price_month",
    ...["--description", "For a company of one.", "--feature", "weekly-report=A report each week"],
  );
  await admin(
    "plan set team-licence --title Team --limit assistants=25 --limit projects=none --price price_team --credits 500",
    ...["--feature", "voice=Voice notes"],
  );
  await admin("plan set founder --title Founder", "--description", "For those who came first.");

  const give = async ({ id }: Buyer, columns: string) =>
    stage.query(`UPDATE accounts SET ${columns} WHERE id = '${id}'`);

  const states: Record<string, { admit: () => Promise<Buyer>; paths?: string[] }> = {
    trial: {
      admit: () => shop.admit("--trial-days", "14", "--assistant-limit", "3", "--credits", "100"),
      paths: all,
    },
    "trial ends soon": {
      async admit() {
        const buyer = await shop.admit("--trial-days", "2");
        await give(buyer, `created_at_ms = created_at_ms - ${12 * dayMs}`);
        return buyer;
      },
    },
    "trial ended": { admit: () => shop.admit(...ended) },
    hobby: { admit: () => shop.admit("--plan", "hobby") },
    given: {
      admit: () => shop.admit("--plan", "licensed", "--assistant-limit", "12", "--feature", "export"),
    },
    "given until soon": { admit: () => shop.admit("--plan", "licensed", "--until", "2027-03-02") },
    "given until later": { admit: () => shop.admit("--plan", "founder", "--until", "2027-06-30") },
    "of a plan that is not offered any more": {
      async admit() {
        const buyer = await shop.admit("--plan", "founder");
        await admin("plan retire founder");
        return buyer;
      },
    },
    spent: {
      async admit() {
        const buyer = await shop.admit("--plan", "licensed", "--credits", "20");
        for (const amount of ["-12.5", "40", "-47.5"])
          await admin(`credits add ${buyer.email} ${amount}`, "--reason", `worth ${amount}`);
        return buyer;
      },
    },
    asked: {
      async admit() {
        const buyer = await shop.admit("--plan", "hobby");
        await buyer.browser.open(authorizePath("native", redirectUri));
        return buyer;
      },
      paths: ["/connect", "/home"],
    },
    connected: {
      async admit() {
        const buyer = await shop.admit("--plan", "hobby");
        const { access_token } = await connectApp(await makeApp(service), buyer.browser, service);
        await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${access_token}` } });
        const told = `SELECT told FROM local_sessions WHERE account_id = '${buyer.id}' AND told IS NOT NULL`;
        await eventually(async () => expect(await stage.query(told)).toHaveLength(1));
        await shop.sendDue();
        await Browser.signIn(service, buyer.email);
        return buyer;
      },
      paths: ofAccount,
    },
    disconnected: {
      async admit() {
        const buyer = await shop.admit("--plan", "hobby");
        await connectApp(await makeApp(service), buyer.browser, service);
        await buyer.browser.pressAtHome("/home/sessions/end", { session: "apps" });
        return buyer;
      },
      paths: ofAccount,
    },
    leaving: {
      async admit() {
        const buyer = await shop.admit("--plan", "hobby");
        await buyer.browser.submit("/home/account/delete", { account: buyer.id });
        return buyer;
      },
      paths: all,
    },
    "leaving with a licence": {
      async admit() {
        const { buyer } = await shop.admitLicensed(...ended);
        await buyer.browser.submit("/home/account/delete", { account: buyer.id });
        return buyer;
      },
      paths: all,
    },
    unreadable: {
      async admit() {
        const buyer = await shop.admit();
        await give(buyer, "plan = 'platinum'");
        return buyer;
      },
    },
    "in another time zone": {
      async admit() {
        const buyer = await shop.admit("--trial-days", "2");
        await give(buyer, "time_zone = 'Pacific/Auckland'");
        return buyer;
      },
      paths: all,
    },
    ...Object.fromEntries(
      Object.entries(licences).map(([name, become]) => [
        `licence ${name}`,
        {
          async admit() {
            const { buyer, subscription } = await shop.admitLicensed(...ended);
            become(stripe, subscription);
            await shop.reconcile(buyer.email);
            return buyer;
          },
        },
      ]),
    ),
  };

  it.each(Object.entries(states))("say all of this: %s", async (name, { admit, paths = ofPlan }) => {
    const { browser, email } = await admit();
    const said = await readAll(browser, paths);
    await shop.sendDue();
    const { stdout } = await service.admin("explain", email);
    await expectSaid(name, [said, "admin explain", stdout.replaceAll(byChance, "…")].join("\n"));
  });

  it("say what was done and what did not work", async () => {
    await expectSaid("notes", await readNotes((await shop.admit("--plan", "hobby")).browser));
    await expectSaid("notes-with-a-licence", await readNotes((await shop.admitLicensed()).buyer.browser));
  });

  it.each(Object.entries(ofStrangers))("say all of this to a stranger: %s", async (name, paths) => {
    await expectSaid(`stranger-${name}`, await readAll(new Browser(service), paths));
  });
});

describe("an owner's pages where nothing is sold and no one can be asked", async () => {
  const service = await startService({ SIGN_IN: "local", ...clock.environment });

  it.each([
    ["trial", ["--trial-days", "2"]],
    ["ended", ended],
    ["given", ["--plan", "licensed", "--until", "2027-06-30"]],
    ["hobby", ["--plan", "hobby"]],
  ])("say all of this: %s", async (name, terms) => {
    const browser = await Browser.admit(service, `${name}@example.com`, ...terms);
    await expectSaid(`nothing-sold-${name}`, await readAll(browser, ofPlan));
  });

  it("say what was done and what did not work", async () => {
    const browser = await Browser.admit(service, "notes@example.com");
    await expectSaid("nothing-sold-notes", await readNotes(browser));
  });
});
