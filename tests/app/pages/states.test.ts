import { describe, expect, it } from "vitest";
import { dayMs, hourMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { licences } from "@/tests/support/licences";
import { authorizePath, makeApp, redirectUri, register } from "@/tests/support/oauth-libraries";
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
const all = [...ofPlan, "/home/access", "/home/access/developers", "/home/account"];

const ofStrangers = {
  "sign-in": ["expired", "used", "gone", "ended", "email", "too-many&of=client&wait=90", "unavailable"].map(
    (problem) => `/sign-in?problem=${problem}`,
  ),
  waitlist: ["", "?joined", "?confirmed", "?token=x", "?problem=email", "?problem=full"].map(
    (query) => `/waitlist${query}`,
  ),
  search: ["/docs/search?q=zzzz"],
  status: ["/status"],
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
    "problem=unavailable&reference=7ec2f0c2-6acc-49bb-9b3a-a6b4c749503f",
    "problem=unavailable&reference=call+us",
    "problem=toString",
    ...["0", "1", "1.5", "89", "90", "600", "601"].map((wait) => `problem=too-many&wait=${wait}`),
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
  "/home/billing": [
    "automatic",
    "limits",
    "checkout=toString",
    "checkout=bought",
    "checkout=cancelled",
    "change=price_team",
  ],
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
  const shop = await startShop(engine, {
    ...(await withBackendApi(clock.environment)),
    SUPPORT_EMAIL: "help@example.com",
  });
  const { service, stage, stripe } = shop;
  const worker = await BackendCaller.add(service, "worker");
  worker.nowMs = clock.now;
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

  const connect = async ({ id, browser }: Buyer) => {
    await connectApp(await makeApp(service), browser, service);
    const seen = "last_seen_at_ms = begun_at_ms, checked_at_ms = begun_at_ms, told = 'licensed'";
    await stage.query(`UPDATE local_sessions SET ${seen} WHERE account_id = '${id}' AND kind = 'app'`);
  };
  const age = ({ id }: Buyer) =>
    stage.query(`UPDATE local_sessions SET begun_at_ms = begun_at_ms - ${hourMs} WHERE account_id = '${id}'`);
  const disconnect = ({ browser }: Buyer) => browser.pressAtHome("/home/sessions/end", { session: "apps" });
  const leave = ({ id, browser }: Buyer) => browser.submit("/home/account/delete", { account: id });
  /** What any owner may do next, one after the other. */
  const later = { "connect an app": connect, "let an hour pass": age, "disconnect it": disconnect, leave };
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
    "given what is sold": { admit: () => shop.admit("--plan", "office-licence") },
    "trial ends today": { admit: () => shop.admit("--trial-ends", "2027-03-01T18:00:00Z") },
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
    "buying credits automatically": {
      async admit() {
        const { buyer } = await shop.admitLicensed("--credits", "150");
        const { id: account, email, browser } = buyer;
        await admin(`credits add ${email} -3`, "--reason", "Given by mistake");
        await browser.redeem(email, { back: "/home/billing?automatic#automatic" });
        const automatic = { account, credits: "price_pack", below: "100", most: "3" };
        await browser.submit("/home/credits/automatic", automatic);
        await browser.submit("/home/credits/limits", { account, limit: "50", below: "120" });
        const work = { credits: "6.5", reason: "A page" };
        await worker.post(`/v1/accounts/${account}/spends`, work);
        await worker.post(`/v1/accounts/${account}/holds`, { ...work, expiresInSeconds: 3600 });
        await browser.post("/sign-in/renew");
        return buyer;
      },
      paths: ["/home", "/home/billing?automatic", "/home/billing?limits", "/home/account"],
    },
    "with a pack": {
      async admit() {
        const buyer = await shop.admit("--plan", "office-licence");
        await shop.buy(buyer, { credits: "price_pack" });
        await shop.deliverAll();
        return buyer;
      },
    },
    ...Object.fromEntries(
      [undefined, "A desk"].flatMap((client_name) =>
        ["https://desk.example/cb", redirectUri].map((uri) => [
          `asked by ${client_name ?? "no name"} at ${new URL(uri).hostname}`,
          {
            async admit() {
              const buyer = await shop.admit("--plan", "hobby");
              const app = { client_name, redirect_uris: [uri], token_endpoint_auth_method: "none" };
              const { text } = await register(service, app, "127.9.0.1");
              await buyer.browser.open(authorizePath(JSON.parse(text).client_id, uri));
              return buyer;
            },
            paths: ["/connect"],
          },
        ]),
      ),
    ),
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
        await connect(buyer);
        await disconnect(buyer);
        return buyer;
      },
      paths: ofAccount,
    },
    leaving: {
      async admit() {
        const buyer = await shop.admit("--plan", "hobby");
        await leave(buyer);
        return buyer;
      },
      paths: all,
    },
    "leaving with a licence": {
      async admit() {
        const { buyer } = await shop.admitLicensed(...ended);
        await leave(buyer);
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
      paths: [...ofPlan, "/home/access"],
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

  it.each(Object.entries(states))("say all of this: %s", async (name, { admit, paths }) => {
    const buyer = await admit();
    const said = [await readAll(buyer.browser, paths ?? ofPlan)];
    await shop.sendDue();
    const { stdout } = await service.admin("explain", buyer.email);
    // Which of the mails of one instant was the last is chance too.
    const explained = stdout.replaceAll(byChance, "…").replace(/(?<=^lastMail +)new \w+/m, "…");
    said.push("admin explain", explained);
    let before = new Set(said[0]?.split("\n"));
    for (const [act, perform] of paths ? [] : Object.entries(later)) {
      await perform(buyer);
      const after = new Set((await readAll(buyer.browser, ofPlan)).split("\n"));
      const [gone, come] = [before.difference(after), after.difference(before)];
      said.push(
        `They ${act}.`,
        ...[...gone].map((line) => `- ${line}`),
        ...[...come].map((line) => `+ ${line}`),
      );
      before = after;
    }
    await expectSaid(name, said.join("\n"));
  });

  it("say what was done and what did not work", async () => {
    await expectSaid("notes", await readNotes((await shop.admit("--plan", "hobby")).browser));
    await expectSaid("notes-with-a-licence", await readNotes((await shop.admitLicensed()).buyer.browser));
  });

  it.each(Object.entries(ofStrangers))("say all of this to a stranger: %s", async (name, paths) => {
    for (const minutes of name === "status" ? [0.5, 1, 20, 180, 720, 900] : []) {
      const fromMs = clock.now() - minutes * dayMs * 0.01;
      const times = [fromMs, fromMs + minutes * 60_000, fromMs + minutes * 60_000];
      await stage.query(`INSERT INTO status_outages VALUES ('Mail', ${times.map(Math.floor).join()})`);
    }
    if (name === "status")
      await stage.query(
        `INSERT INTO status_outages VALUES ('Sign-in', ${clock.now() - 300_000}, ${clock.now()}, NULL)`,
      );
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
