import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type BrowserContextOptions, type Browser as Chromium, chromium, type Page } from "@playwright/test";
import { dayMs } from "@/lib/config/durations";
import { documentPages } from "@/lib/http/register/pages";
import { renderPreviews } from "@/lib/mail/previews";
import { drawCards, drawIcons } from "@/tests/pictures/drawn";
import { officeStates, openOffice } from "@/tests/pictures/office";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { type Become, licences } from "@/tests/support/licences";
import { codeTo, mailTo } from "@/tests/support/mailbox";
import { authorizePath, makeApp, redirectUri, register } from "@/tests/support/oauth-libraries";
import { startWithOffice } from "@/tests/support/office-browser";
import { connectApp } from "@/tests/support/owner";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { sessionIn } from "@/tests/support/shop";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

/*
 * `npm run pictures` shows the pages and the operators' office in some ninety states and every mail, each on paper and
 * in the dark, on a screen and on two phones: in `pictures/`, which git ignores; `-- status mail` chooses by the beginnings
 * of names. `-- --public` also draws what is kept in `public/` anew: the icons, the cards that others show of a link, and
 * the README's pictures.
 */

const folder = "pictures";
const hourMs = dayMs / 24;
const screen = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const smallPhone = { width: 320, height: 568 };
const looks: Record<string, { viewport: { width: number; height: number }; colorScheme: "light" | "dark" }> =
  {
    light: { viewport: screen, colorScheme: "light" },
    dark: { viewport: screen, colorScheme: "dark" },
    phone: { viewport: phone, colorScheme: "light" },
    "phone-dark": { viewport: phone, colorScheme: "dark" },
    "small-phone": { viewport: smallPhone, colorScheme: "light" },
    "small-phone-dark": { viewport: smallPhone, colorScheme: "dark" },
  };

export type State = {
  name: string;
  path: string;
  /** The name of the account whose session opens the page, or the operator. */
  as?: string;
  /** Actions on the page before the picture is taken. */
  act?: (page: Page) => Promise<void>;
};

const accounts: Record<string, readonly string[]> = {
  licensed: ["--plan", "licensed", "--assistant-limit", "12", "--credits", "1250.5"],
  trial: ["--trial-days", "14", "--assistant-limit", "3", "--credits", "100"],
  ending: ["--trial-days", "2", "--assistant-limit", "3"],
  ended: ["--trial-ends", "2026-01-01"],
  connected: ["--plan", "hobby"],
  disconnected: ["--plan", "hobby"],
  leaving: ["--plan", "hobby"],
  former: ["--plan", "founder"],
  ...Object.fromEntries(Object.keys(licences).map((name) => [name, ["--trial-ends", "2026-01-01"]])),
};

/** The pages that answer whether the company may run, what it costs and how one leaves. */
const standings: State[] = [
  "licensed",
  "trial",
  "ending",
  "ended",
  "connected",
  ...Object.keys(licences),
].flatMap((as) =>
  ["", "-billing", "-account"].map((page) => ({
    name: `home${page}-${as}`,
    path: `/home${page.replace("-", "/")}`,
    as,
  })),
);

const states: State[] = [
  { name: "front", path: "/" },
  { name: "waitlist-problem", path: "/waitlist?problem=email" },
  { name: "waitlist-joined", path: "/waitlist", act: joinWaitlist },
  { name: "waitlist-link", path: "/waitlist?token=x" },
  { name: "waitlist-link-expired", path: "/waitlist?problem=link" },
  { name: "waitlist-confirmed", path: "/waitlist?confirmed" },
  { name: "sign-in", path: "/sign-in" },
  { name: "sign-in-expired", path: "/sign-in?problem=expired" },
  { name: "sign-in-tries", path: "/sign-in?problem=tries" },
  { name: "sign-in-cookies", path: "/sign-in?problem=cookies" },
  { name: "code", path: "/sign-in", act: askForCode },
  { name: "invitation", path: "/invitation" },
  { name: "invitation-unknown", path: "/invitation?token=x" },
  { name: "home-former", path: "/home", as: "former" },
  { name: "home-billing-former", path: "/home/billing", as: "former" },
  { name: "home-billing-change", path: "/home/billing?change=price_team", as: "renewing" },
  { name: "connect-program", path: "/connect", as: "licensed" },
  { name: "connect-site", path: "/connect", as: "licensed", act: askAsSite },
  { name: "connect-device", path: "/connect?user_code", as: "licensed", act: askAsDevice },
  { name: "connect-code", path: "/connect?problem=code" },
  { name: "connect-signed-out", path: "/connect?user_code", act: askAsDevice },
  { name: "connect-approved", path: "/connect?user_code", as: "licensed", act: answerDevice("Approve") },
  { name: "connect-declined", path: "/connect?user_code", as: "licensed", act: answerDevice("Decline") },
  { name: "nothing-here", path: "/no/such/page" },
  { name: "unsubscribe", path: "/unsubscribe" },
  { name: "unsubscribe-stopped", path: "/unsubscribe", act: stopEmails },
  { name: "unsubscribe-already-stopped", path: "/unsubscribe", act: stopAndReload },
  { name: "unsubscribe-bad-link", path: "/unsubscribe?token=x" },
  { name: "status", path: "/status", act: sendAllMail },
  { name: "status-outages", path: "/status", act: showOutages },
  { name: "changes", path: "/changes" },
  ...Object.entries(documentPages).map(([name, { path }]) => ({ name: `docs-${name}`, path })),
  { name: "docs-moved", path: "/docs#support" },
  { name: "search", path: "/docs/search?q=verify+a+token" },
  { name: "search-nothing", path: "/docs/search?q=xylophone" },
  { name: "search-empty", path: "/docs/search" },
  { name: "operation", path: "/docs/api/entitlement" },
  { name: "operation-run", path: "/docs/api/health", act: (page) => page.getByText("Run it here").click() },
  { name: "palette", path: "/docs", act: (page) => page.keyboard.press("Control+k") },
  { name: "palette-hits", path: "/docs", act: searchInPalette },
  ...standings,
  { name: "home-disconnected", path: "/home", as: "disconnected" },
  { name: "home-cannot-tell", path: "/home", as: "licensed", act: takeAccountsAway },
  { name: "home-access", path: "/home/access", as: "licensed" },
  { name: "home-access-connected", path: "/home/access", as: "connected" },
  {
    name: "home-access-opened",
    path: "/home/access",
    as: "connected",
    act: (page) => page.locator(".session summary").first().click(),
  },
  { name: "home-access-developers", path: "/home/access/developers", as: "connected" },
  ...["claude", "claude-code", "cursor", "other"].map((app) => ({
    name: `home-access-connect-${app}`,
    path: `/home/access/connect?app=${app}`,
    as: "licensed",
  })),
  { name: "home-access-disconnected", path: "/home/access", as: "disconnected" },
  {
    name: "home-account-delete",
    path: "/home/account",
    as: "renewing",
    act: (page) => page.getByText("Delete my account").click(),
  },
  { name: "home-account-leaving", path: "/home/account", as: "leaving" },
  { name: "home-leaving", path: "/home", as: "leaving" },
  { name: "keep-account", path: "/keep-account" },
  { name: "keep-account-bad-link", path: "/keep-account?token=x" },
];

/** The pictures that the README shows. */
const shownInReadme: Record<string, string> = {
  front: "light",
  operation: "dark",
  "home-trial": "light",
  palette: "light",
};

const clock = makeClock();
const stripe = await StripeStandIn.start();
/** Mail is set up, as in a real service. What comes in is where one without a mail server would have written it. */
const inbox = await startSmtpInbox({
  onData(stream, _, done) {
    const folder = join(service.dataDir, "mail");
    mkdirSync(folder, { recursive: true });
    const name = join(folder, randomUUID());
    stream.pipe(createWriteStream(name)).on("finish", () => {
      renameSync(name, `${name}.eml`);
      done();
    });
  },
});
const port = await reservePort();
const environment = {
  ...stripe.environment,
  PORT: String(port),
  BACKEND_PORT: String(await reservePort()),
  APP_URL: `http://localhost:${port}`,
  SIGN_IN: "local",
  SUPPORT_EMAIL: "help@example.com",
  OPERATOR_NAME: "Northwind Labs",
  EMAIL_FROM: "Northwind Labs <office@example.com>",
  SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
  ...clock.environment,
};
const service = await startWithOffice(environment);
const officeUrl = `http://localhost:${service.environment.OFFICE_PORT}`;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP office.example.org 127.0.0.1"],
});
const args = process.argv.slice(2);
const isPublic = args.includes("--public");
const chosen = args.filter((arg) => !arg.startsWith("--"));
const isChosen = (name: string) => chosen.length === 0 || chosen.some((start) => name.startsWith(start));
try {
  if (chosen.length === 0) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await makePlans();
  const sessions = await signEverybodyIn(browser);
  const addresses = await findAddresses();
  await takeAll(states, service.url, { sessions, addresses });
  if (officeStates.some(({ name }) => isChosen(name))) {
    sessions.set("operator", await openOffice(browser, service, clock.pass, changeStore));
    await takeAll(officeStates, officeUrl, { sessions, addresses });
  }
  if (isChosen("wrong-host")) await takeWrongHost();
  if (isChosen("unsold")) await takeUnsold();
  if (isChosen("mail")) await takeMails();
  if (isPublic) {
    await drawIcons(browser);
    await drawCards(browser, service.url);
  }
} finally {
  await browser.close();
  await service.stop({ expectErrors: true }); // the errors of the unreadable accounts
  await stripe.stop();
  await inbox.stop();
}
process.exit(); // the open port would keep this process alive

/** The plans that are sold, with words and a yearly price each, and one that is not offered any more. */
async function makePlans(): Promise<void> {
  const month = stripe.prices.get("price_more");
  const year = stripe.prices.get("price_team");
  if (!month || !year) throw new Error("no prices");
  stripe.prices.set("price_studio", { ...month, id: "price_studio", unit_amount: 7_900, nickname: null });
  stripe.prices.set("price_year", { ...year, id: "price_year", unit_amount: 49_000, nickname: null });
  const set = (...words: string[]) => service.adminJson("plan", "set", ...words);
  const [sold] = stripe.subscriptionUpdate.products;
  sold?.prices.push("price_year", "price_more");
  await set("trial", "--limit", "assistants=3", "--limit", "projects=2");
  await set("hobby", "--limit", "assistants=1", "--limit", "projects=1");
  await set(
    ...["office-licence", "--title", "Office", "--description", "For a company that works every day."],
    ...[
      "--feature",
      "weekly-report=A report each week",
      "--limit",
      "assistants=12",
      "--limit",
      "projects=20",
    ],
    ...["--price", "price_month", "--price", "price_year"],
  );
  await set(
    ...["team-licence", "--title", "Team", "--description", "For a company with a back office."],
    ...["--feature", "weekly-report=A report each week", "--feature", "voice=Voice notes in ten languages"],
    ...["--limit", "projects=none", "--credits", "500", "--price", "price_more", "--price", "price_team"],
  );
  await set(
    "founder",
    "--title",
    "Founder",
    "--description",
    "For those who came first.",
    "--feature",
    "weekly-report=A report each week",
    "--limit",
    "assistants=5",
  );
}

type Sessions = Map<string, BrowserContextOptions["storageState"]>;

async function signEverybodyIn(browser: Chromium): Promise<Sessions> {
  const sessions: Sessions = new Map();
  for (const [at, [name, terms]] of Object.entries(accounts).entries()) {
    // One address may sign in to so many accounts in ten minutes.
    if (at % 8 === 7) clock.pass(hourMs / 6);
    const email = `${name}@example.com`;
    await service.adminJson("account", "add", email, ...terms);
    if (terms.includes("--credits"))
      await service.adminJson("credits", "add", email, "40", "--reason", "Thank you for your report");
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${service.url}/sign-in`);
    await page.getByLabel("Email").fill(email);
    await page.keyboard.press("Enter");
    await page.getByLabel("Code").fill(await codeTo(service.dataDir, email));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${service.url}/home`);
    sessions.set(name, await context.storageState());
    await context.close();
  }
  await service.adminJson("plan", "retire", "founder");
  for (const [name, become] of Object.entries(licences)) await buyLicence(name, become);
  spendCredits("trial@example.com", 2, 0);
  spendCredits("licensed@example.com", 60, 30);
  changeStore(
    `UPDATE accounts SET created_at_ms = created_at_ms - ${12 * dayMs} WHERE email = 'ending@example.com'`,
  );
  await connectMany("connected@example.com");
  await disconnect("disconnected@example.com");
  return sessions;
}

/** Has an account of so many days ago use credits so many times, on most of these days; its balance is what is left. */
function spendCredits(email: string, times: number, days: number): void {
  const reasons = ["Weekly summary of the inbox", "Draft of a reply", "Search of the archive"];
  const account = `(SELECT id FROM accounts WHERE email = '${email}')`;
  const rows = Array.from({ length: times }, (_, n) => {
    const atMs = clock.now() + n - (days && ((n * n) % (days - 1)) * dayMs + n * 60_000);
    return `('used-${email}-${n}', ${account}, ${-500 * (1 + ((n * 7) % 23))}, '${reasons[n % 3]}', ${atMs}, 'worker')`;
  });
  const earlier = `created_at_ms = created_at_ms - ${days * dayMs}`;
  changeStore(`
    UPDATE credit_entries SET ${earlier} WHERE account_id = ${account};
    UPDATE audit_entries SET at_ms = at_ms - ${days * dayMs} WHERE whom = '${email}' AND what <> 'sign in';
    INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, backend_id)
    VALUES ${rows.join()};
    UPDATE accounts SET ${earlier}, credit_thousandths =
      (SELECT sum(thousandths) FROM credit_entries WHERE account_id = accounts.id) WHERE email = '${email}'`);
}

/** Buys a licence, of which something becomes. */
async function buyLicence(state: string, become: Become): Promise<void> {
  const email = `${state}@example.com`;
  const { id: account } = await service.adminJson<{ id: string }>("account", "show", email);
  const owner = await Browser.signIn(service, email);
  const session = sessionIn(await owner.submit("/home/checkout", { account, licence: "price_month" }));
  stripe.pay(session);
  if (!["free", "trial-over", "unfinished", "unpaid"].includes(state))
    // which were never paid
    await service.adminJson("billing", "reconcile", email);
  become(stripe, String(stripe.sessions.get(session)?.subscription));
  await service.adminJson("billing", "reconcile", email);
}

/** Gives an account other browsers, apps and tokens. */
async function connectMany(email: string): Promise<void> {
  const owner = await Browser.signIn(service, email);
  await Browser.signIn(service, email);
  changeStore(
    `UPDATE local_sessions SET name = 'Safari on iPhone', begun_in = name WHERE rowid = (SELECT max(rowid) FROM local_sessions)`,
  );
  const app = await makeApp(service);
  await connectApp(app, owner, service);
  clock.pass(hourMs / 8);
  const { access_token } = await connectApp(app, owner, service);
  await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${access_token}` } });
  changeStore(
    `UPDATE local_sessions SET name = 'Claude Code' WHERE kind = 'app' AND rowid = (SELECT max(rowid) FROM local_sessions WHERE kind = 'app')`,
  );
  await owner.pressAtHome("/home/token");
  for (let n = 0; n < 3; n++) await service.token(email);
}

/** Connects an app to an account, and ends it. */
async function disconnect(email: string): Promise<void> {
  const owner = await Browser.signIn(service, email);
  await connectApp(await makeApp(service), owner, service);
  await owner.pressAtHome("/home/sessions/end", { session: "apps" });
}

/** The addresses of the pages that are reached by a mailed or generated link. */
async function findAddresses(): Promise<Record<string, string>> {
  const { url } = await service.adminJson<{ url: string }>("invite", "invited@example.com");
  return {
    invitation: url.slice(service.url.length),
    unsubscribe: `/unsubscribe${await unsubscribeSearch("trial@example.com")}`,
    "unsubscribe-stopped": `/unsubscribe${await unsubscribeSearch("ended@example.com")}`,
    "unsubscribe-already-stopped": `/unsubscribe${await unsubscribeSearch("ended@example.com")}`,
    "keep-account": await leaveAccount("leaving@example.com"),
    "connect-program": authorizePath("native", redirectUri),
  };
}

/** Asks for the deletion of an account. Returns the address of its mail's link. */
async function leaveAccount(email: string): Promise<string> {
  const { id } = await service.adminJson<{ id: string }>("account", "show", email);
  await (await Browser.signIn(service, email)).submit("/home/account/delete", { account: id });
  const { text = "" } = await mailTo(service.dataDir, email, /will be deleted/);
  return /(\/keep-account\S+)/.exec(text)?.[1] ?? "";
}

async function unsubscribeSearch(email: string): Promise<string> {
  const { url } = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
  return new URL(url).search;
}

async function askAsSite(page: Page): Promise<void> {
  const site = "https://reports.example/signed-in";
  const client = { client_name: "Weekly reports", redirect_uris: [site] };
  const { client_id } = JSON.parse((await register(service, client, service.from)).text);
  await page.goto(service.url + authorizePath(client_id, site));
}

async function searchInPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("verify a token");
  await page.getByText("All results on one page").waitFor();
}

async function askAsDevice(page: Page): Promise<void> {
  const asked = await service.submit("/oauth/device", { client_id: "native", scope: "account:read" });
  await page.getByLabel("Code").fill(JSON.parse(asked.text).user_code);
  await page.keyboard.press("Enter");
}

function answerDevice(word: "Approve" | "Decline") {
  return async (page: Page) => {
    await askAsDevice(page);
    await page.getByRole("button", { name: word }).click();
  };
}

async function askForCode(page: Page): Promise<void> {
  await page.getByLabel("Email").fill("trial@example.com");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.url}/sign-in/code`);
}

async function joinWaitlist(page: Page): Promise<void> {
  await page.getByLabel("Email").fill("reader@example.com");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.url}/waitlist?joined`);
}

function changeStore(statements: string): void {
  const db = new DatabaseSync(join(service.dataDir, "store.sqlite"), { timeout: 5000 });
  db.exec(statements);
  db.close();
}

/** Reloads the page while no account can be read. */
async function takeAccountsAway(page: Page): Promise<void> {
  changeStore("ALTER TABLE accounts RENAME TO accounts_away");
  await page.reload();
  changeStore("ALTER TABLE accounts_away RENAME TO accounts");
}

/** Reloads the page once the mails are sent that became due when the clock was set forward. */
async function sendAllMail(page: Page): Promise<void> {
  await service.adminJson("emails", "send-due");
  changeStore("DELETE FROM status_outages");
  await page.waitForTimeout(1100); // the service reads them at most once a second
  await page.reload();
}

/** Reloads the page with an outage that lasts, one of 95 minutes and one of a few seconds. */
async function showOutages(page: Page): Promise<void> {
  const now = clock.now();
  const rows = [
    ["Rate limits", now - 2 * hourMs, now + hourMs, "null"],
    ["MCP server", now - 80 * hourMs, now - 78.4 * hourMs, now - 78.4 * hourMs],
    ["Accounts and credits", now - 1999 * hourMs, now - 1999 * hourMs + 9000, now - 1999 * hourMs + 9000],
  ].map(([part, ...times]) => `('${part}', ${times.join(", ")})`);
  changeStore(
    `DELETE FROM status_outages;
     INSERT INTO status_outages (part, started_at_ms, seen_at_ms, ended_at_ms) VALUES ${rows.join(", ")}`,
  );
  await page.waitForTimeout(1100); // the service reads them at most once a second
  await page.reload();
  changeStore("DELETE FROM status_outages");
}

/** Submits the page's form, also where the emails are stopped already and it has none. */
async function stopEmails(page: Page): Promise<void> {
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.evaluate(() => {
    const form = document.createElement("form");
    form.method = "post";
    document.body.append(form);
    form.submit();
  });
  await (await answered).finished();
  await page.waitForLoadState("networkidle");
}

async function stopAndReload(page: Page): Promise<void> {
  const address = page.url();
  await stopEmails(page);
  await page.goto(address);
}

/** Takes pictures of a page that is opened under another host than the service's own. */
async function takeWrongHost(): Promise<void> {
  const elsewhere = await Service.start({ APP_URL: "https://office.example.com", SIGN_IN: "local" });
  const page = await browser.newPage();
  await page.goto(`http://office.example.org:${elsewhere.port}/docs/connect`);
  await shoot(page, "wrong-host");
  await page.close();
  await elsewhere.stop();
}

/** Takes pictures of an owner's pages where billing is set up and no plan is sold. */
async function takeUnsold(): Promise<void> {
  const unsold = { ...stripe.environment, STRIPE_LICENCE_PRICES: "", SUPPORT_EMAIL: "help@example.com" };
  const shop = await Service.start({ ...unsold, SIGN_IN: "local" });
  const url = `http://localhost:${shop.port}`;
  for (const [name, ends] of [
    ["trial", ["--trial-days", "14"]],
    ["ended", ["--trial-ends", "2026-01-01"]],
  ] as const) {
    const { cookies } = await Browser.admit(shop, `${name}@example.com`, ...ends);
    const context = await browser.newContext();
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url })));
    const page = await context.newPage();
    for (const part of ["home", "home/billing"]) {
      await page.goto(`${url}/${part}`, { waitUntil: "networkidle" });
      await shoot(page, `unsold-${part.replace("/", "-")}-${name}`);
    }
    await context.close();
  }
  await shop.stop();
}

/** Takes pictures of the example of every mail, as the service sends it. */
async function takeMails(): Promise<void> {
  Object.assign(process.env, environment); // what the mails name
  const page = await browser.newPage();
  for (const [name, { html }] of renderPreviews()) {
    await page.setContent(html);
    await shoot(page, `mail-${name}`);
  }
  await page.close();
}

type Found = { sessions: Sessions; addresses: Record<string, string> };

async function takeAll(all: State[], url: string, { sessions, addresses }: Found): Promise<void> {
  for (const { name, path, as, act } of all.filter(({ name }) => isChosen(name))) {
    const storageState = as && sessions.get(as);
    const context = await browser.newContext(storageState ? { storageState } : {});
    const page = await context.newPage();
    await page.goto(url + (addresses[name] ?? path), { waitUntil: "networkidle" });
    await act?.(page);
    await shoot(page, name);
    await context.close();
    process.stdout.write(`${name}\n`);
  }
}

/** Takes a picture of what a page shows in each look. */
async function shoot(page: Page, name: string): Promise<void> {
  for (const [look, { viewport, colorScheme }] of Object.entries(looks)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(600); // until actions show and animations have ended
    await page.screenshot({
      path: `${folder}/${name}.${look}.png`,
      fullPage: !/^(palette|connect-(program|site|device))/.test(name),
    });
    if (isPublic && shownInReadme[name] === look)
      await page.screenshot({ path: `public/picture-${name}.jpg`, type: "jpeg", quality: 72 });
  }
}
