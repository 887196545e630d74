import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { licences } from "@/tests/support/licences";
import { makeApp } from "@/tests/support/oauth-libraries";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { connectApp } from "@/tests/support/owner";
import { readAll } from "@/tests/support/page-lines";
import { reservePort } from "@/tests/support/port";

/*
 * All that an operator reads of a service with something in it: one file a page in `states/`. A change of words is written
 * into them by `npx vitest run tests/lib/office/states.test.ts -u`; read what it changed.
 */

const clock = makeClock(Date.UTC(2027, 2, 1, 12));
const [engine = expect.fail("no engine")] = engines;
const shop = await startShop(
  engine,
  {
    OFFICE_PORT: String(await reservePort()),
    SUPPORT_EMAIL: "help@example.com",
    ...clock.environment,
  },
  { isAlone: true },
);
const { service, stage, stripe } = shop;
stripe.nowMs = clock.now;
const admin = (command: string, ...more: string[]) => service.adminJson(...command.split(" "), ...more);

const ended = "--trial-ends 2027-01-01";
await admin(
  "plan set office-licence --title Studio --feature voice --limit assistants=12 --price price_month",
);
await admin("plan set team-licence --title Team --limit assistants=25 --price price_team");
await admin("plan set founder --credits 50");
for (const terms of [
  "--trial-days 14 --credits 100",
  "--trial-days 2",
  ended,
  "--plan founder --until 2027-03-03",
])
  await shop.admit(...terms.split(" "));
for (const become of Object.values(licences)) {
  const { buyer, subscription } = await shop.admitLicensed(...ended.split(" "));
  become(stripe, subscription);
  await shop.reconcile(buyer.email);
}
const connected = await shop.admit("--plan", "hobby", "--feature", "export", "--limit", "projects=50");
await admin(`account set ${connected.email} --assistant-limit 7`);
await connectApp(await makeApp(service), connected.browser, service);
await admin(`credits add ${connected.email} 40`, "--reason", "For the outage of Monday");
const leaving = await shop.admit("--plan", "hobby");
await leaving.browser.submit("/home/account/delete", { account: leaving.id });
await stage.query(`
  INSERT INTO sign_in_mail_attempts VALUES
    ('mail_1', '${leaving.email}', 'code', ${clock.now() - dayMs}, 'failed', '421 4.7.0 Try again later')`);
await admin("plan retire founder");
await admin("backend add worker --may read,spend");
await admin("webhook add https://systems.example.com/events --events account.created");
await admin("banner set warning", "We are down for repairs at noon, for half an hour");
await admin("invite invited@example.com --plan office-licence");
await service.submit("/waitlist/join", { email: "zoë@company.example" });
await shop.sendDue();
const ann = await OfficeBrowser.enrol(service, "ann");

/**
 * Rows of the same millisecond stand in any order, also before or behind a fold of further ones; which mails were sent before a
 * purchase stopped them is chance, and a key has an id by chance.
 */
const withoutChance = (said: string) =>
  said
    .replaceAll(/^[\w-]{8}…(?= since )/gm, "…")
    .replace(/^## Mails\n(?:.*\n)*?(?=## )/m, "")
    .replaceAll(/^> \d+ more\n/gm, "")
    .replaceAll(/(?:^[|-] .*\n)+/gm, (rows) => `${rows.split("\n").sort().join("\n").trim()}\n`);

const pages: Record<string, string> = {
  accounts: "/accounts",
  "accounts-found": "/accounts?find=buyer-2&plan=trial",
  "accounts-in-trial": "/accounts?trials=running",
  "accounts-none": "/accounts?find=zz",
  waiting: "/waiting",
  mails: "/mails",
  plans: "/plans",
  plan: "/plans?plan=office-licence",
  announcement: "/announcement",
  audit: "/audit?what=account+set",
  commands: "/commands",
  backends: "/backends",
  webhooks: "/webhooks",
  "account-of-no-one": "/account?email=stranger@example.com",
  "account-in-trial": "/account?email=buyer-1@example.com",
  "account-given-until": "/account?email=buyer-4@example.com",
  ...Object.fromEntries(
    Object.keys(licences).map((name, at) => [
      `account-licence-${name}`,
      `/account?email=buyer-${at + 5}@example.com`,
    ]),
  ),
  "account-connected": `/account?email=${connected.email}`,
  "account-leaving": `/account?email=${leaving.email}`,
};

it.each(Object.entries(pages))("the office says all of this: %s", async (name, path) => {
  await expect(withoutChance(await readAll(ann, [path]))).toMatchFileSnapshot(`states/${name}.txt`);
});

it("has a file of each of these pages, and no other", () => {
  const files = Object.keys(pages).map((name) => `${name}.txt`);
  expect(readdirSync("tests/lib/office/states").sort()).toEqual(files.sort());
});
