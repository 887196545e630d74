import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContextOptions, type Browser as Chromium, chromium, type Page } from "@playwright/test";
import Database from "libsql";
import { onboardingDays } from "@/lib/mail/onboarding-series";
import { drawCards, drawIcons } from "@/tests/pictures/drawn";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { codeTo, mailsTo } from "@/tests/support/mailbox";
import { openidClient } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

/*
 * `npm run pictures` shows the pages in some thirty states and every mail, each on paper and in the dark, on a screen
 * and on a phone: in `pictures/`, which git ignores. `-- --public` also draws what is kept in `public/` anew: the icons, the cards that
 * others show of a link, and the README's pictures.
 */

const folder = "pictures";
const screen = { width: 1280, height: 800 };
const looks: Record<string, BrowserContextOptions> = {
  light: { viewport: screen, colorScheme: "light" },
  dark: { viewport: screen, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  "phone-dark": { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
};

type State = {
  name: string;
  path: string;
  /** The account whose session opens the page. */
  as?: keyof typeof accounts;
  /** Actions on the page before the picture is taken. */
  act?: (page: Page) => Promise<void>;
};

const accounts = {
  licensed: ["--plan", "licensed", "--assistant-limit", "12", "--credits", "1250.5"],
  trial: ["--trial-days", "14", "--assistant-limit", "3", "--credits", "100"],
  ending: ["--trial-days", "2", "--assistant-limit", "3"],
  ended: ["--trial-ends", "2026-01-01"],
} as const;

const states: State[] = [
  { name: "front", path: "/" },
  { name: "waitlist-problem", path: "/waitlist?problem=email" },
  { name: "waitlist-joined", path: "/waitlist?joined" },
  { name: "sign-in", path: "/sign-in" },
  { name: "sign-in-over", path: "/sign-in?problem=over" },
  { name: "sign-in-cookies", path: "/sign-in?problem=cookies" },
  { name: "code", path: "/sign-in", act: askForCode },
  { name: "invitation", path: "/invitation" },
  { name: "invitation-unknown", path: "/invitation?token=x" },
  { name: "connect-program", path: "/connect", as: "licensed" },
  { name: "connect-site", path: "/connect", as: "licensed", act: askAsSite },
  { name: "connect-device", path: "/connect?user_code", as: "licensed", act: askAsDevice },
  { name: "connect-code", path: "/connect?problem=code" },
  { name: "connect-declined", path: "/connect?answered=user_code&outcome=declined" },
  { name: "privacy", path: "/privacy" },
  { name: "terms", path: "/terms" },
  { name: "nothing-here", path: "/no/such/page" },
  { name: "unsubscribe", path: "/unsubscribe" },
  { name: "unsubscribe-stopped", path: "/unsubscribe", act: pressAndReload },
  { name: "unsubscribe-bad-link", path: "/unsubscribe?token=x" },
  { name: "status", path: "/status" },
  { name: "changes", path: "/changes" },
  { name: "quick-start", path: "/docs" },
  { name: "authentication", path: "/docs/authentication" },
  { name: "connect-an-app", path: "/docs/connect" },
  { name: "client", path: "/docs/client" },
  { name: "reference", path: "/docs/api" },
  { name: "headers", path: "/docs/api/headers" },
  { name: "limits", path: "/docs/api/limits" },
  { name: "mcp", path: "/docs/mcp" },
  { name: "operation", path: "/docs/api/entitlement" },
  { name: "operation-run", path: "/docs/api/health", act: (page) => page.getByText("Run it here").click() },
  { name: "errors", path: "/docs/api/errors" },
  { name: "palette", path: "/docs", act: (page) => page.keyboard.press("/") },
  { name: "home-licensed", path: "/home", as: "licensed" },
  { name: "home-trial", path: "/home", as: "trial" },
  { name: "home-ending", path: "/home", as: "ending" },
  { name: "home-ended", path: "/home", as: "ended" },
  { name: "home-cannot-tell", path: "/home", as: "licensed", act: takeAccountsAway },
];

/** The pictures that the README shows. */
const shownInReadme: Record<string, string> = {
  front: "light",
  operation: "dark",
  "home-trial": "light",
  palette: "light",
};

const clock = makeClock();
const environment = {
  SIGN_IN: "local",
  SUPPORT_EMAIL: "help@example.com",
  ...clock.environment,
};
const service = await Service.start(environment);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const isPublic = process.argv.includes("--public");
try {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const sessions = await signEverybodyIn(browser);
  const addresses = await findAddresses();
  for (const state of states) {
    for (const [look, options] of Object.entries(looks))
      await take(state, look, options, { sessions, addresses });
    process.stdout.write(`${state.name}\n`);
  }
  await takeMails();
  if (isPublic) {
    await drawIcons(browser);
    await drawCards(browser, service.url);
  }
} finally {
  await browser.close();
  await service.stop({ expectErrors: true }); // the errors of the unreadable accounts
}
process.exit(); // the open port would keep this process alive

type Sessions = Map<string, BrowserContextOptions["storageState"]>;

async function signEverybodyIn(browser: Chromium): Promise<Sessions> {
  const sessions: Sessions = new Map();
  for (const [name, terms] of Object.entries(accounts)) {
    const email = `${name}@example.com`;
    await service.adminJson("account", "add", email, ...terms);
    for (const amount of name === "ending" || name === "ended" ? [] : ["-12.5", "40", "-7.25"]) {
      await service.adminJson("credits", "add", email, amount, "--reason", "Weekly summary of the inbox");
    }
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
  return sessions;
}

/** The addresses of the pages that are reached by a mailed or generated link. */
async function findAddresses(): Promise<Record<string, string>> {
  const { url } = await service.adminJson<{ url: string }>("invite", "invited@example.com");
  return {
    invitation: url.slice(service.url.length),
    unsubscribe: `/unsubscribe${await unsubscribeSearch("trial@example.com")}`,
    "unsubscribe-stopped": `/unsubscribe${await unsubscribeSearch("ended@example.com")}`,
    "connect-program": ask("native", "http://127.0.0.1:51515/callback"),
  };
}

async function unsubscribeSearch(email: string): Promise<string> {
  const { url } = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
  return new URL(url).search;
}

/** An app's authorization URL. */
function ask(client_id: string, redirect_uri: string): string {
  const code_challenge = "a".repeat(43);
  const asked = { client_id, redirect_uri, response_type: "code", code_challenge };
  return `/oauth/authorize?${new URLSearchParams({ ...asked, code_challenge_method: "S256" })}`;
}

async function askAsSite(page: Page): Promise<void> {
  const client = { client_name: "Weekly reports", redirect_uris: ["https://reports.example/signed-in"] };
  const headers = { "content-type": "application/json" };
  const registered = await service.ask("/oauth/register", {
    method: "POST",
    headers,
    body: JSON.stringify(client),
  });
  const { client_id } = JSON.parse(registered.text);
  await page.goto(service.url + ask(client_id, client.redirect_uris[0] ?? ""));
}

async function askAsDevice(page: Page): Promise<void> {
  const asked = await service.submit("/oauth/device", { client_id: "native", scope: "account:read" });
  await page.getByLabel("Code").fill(JSON.parse(asked.text).user_code);
  await page.keyboard.press("Enter");
}

async function askForCode(page: Page): Promise<void> {
  await page.getByLabel("Email").fill("trial@example.com");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.url}/sign-in/code`);
}

/** Reloads the page while no account can be read. */
async function takeAccountsAway(page: Page): Promise<void> {
  const rename = (from: string, to: string) => {
    const db = new Database(join(service.dataDir, "store.sqlite"), { timeout: 5000 } as Database.Options);
    db.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
    db.close();
  };
  rename("accounts", "accounts_away");
  await page.reload();
  rename("accounts_away", "accounts");
}

/** Stops the emails, unless they are stopped, and opens the page again. */
async function pressAndReload(page: Page): Promise<void> {
  const address = page.url();
  const button = page.getByRole("button", { name: "Stop these emails" });
  if (await button.isVisible()) await button.click();
  await page.goto(address);
}

/** Takes pictures of an invitation, a code, the onboarding series and the mails about the account. */
async function takeMails(): Promise<void> {
  const email = "mails@example.com";
  const { url } = await service.adminJson<{ url: string }>("invite", email);
  const token = new URL(url).searchParams.get("token") ?? "";
  await service.submit("/invitation/accept", { token, email });
  await codeTo(service.dataDir, email);
  for (let n = 0; n < 2; n++) await Browser.signIn(service, email); // the second one is a new browser
  const { address } = await (await openidClient.makeApp(service)).ask();
  await answerApp(await Browser.signIn(service, email), service, address.href);
  await service.adminJson("account", "set", email, "--trial-days", String(onboardingDays + 1));
  for (let day = 0; day <= onboardingDays; day++) {
    clock.pass(24 * 60 * 60 * 1000);
    await service.adminJson("emails", "send-due");
  }
  for (const [at, { html = "" }] of (await mailsTo(service.dataDir, email)).entries()) {
    for (const [look, options] of Object.entries(looks)) {
      const page = await browser.newPage(options);
      await page.setContent(html);
      await page.screenshot({ path: `${folder}/mail-${at + 1}.${look}.png`, fullPage: true });
      await page.close();
    }
  }
}

type Found = { sessions: Sessions; addresses: Record<string, string> };

async function take(
  { name, path, as = undefined, act }: State,
  look: string,
  options: BrowserContextOptions,
  { sessions, addresses }: Found,
): Promise<void> {
  const storageState = as && sessions.get(as);
  const context = await browser.newContext({ ...options, ...(storageState && { storageState }) });
  const page = await context.newPage();
  await page.goto(service.url + (addresses[name] ?? path), { waitUntil: "networkidle" });
  await act?.(page);
  await page.waitForTimeout(act ? 600 : 100); // wait for actions to show and animations to end
  await page.screenshot({ path: `${folder}/${name}.${look}.png`, fullPage: name !== "palette" });
  if (isPublic && shownInReadme[name] === look) {
    await page.screenshot({ path: `public/picture-${name}.jpg`, type: "jpeg", quality: 72 });
  }
  await context.close();
}
