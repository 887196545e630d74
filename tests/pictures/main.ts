import { mkdirSync, rmSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "@playwright/test";
import { drawCards, drawIcons } from "@/tests/pictures/drawn";
import { codeTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";

/*
 * `npm run pictures` shows the pages in twenty states, each on paper and in the dark, on a screen and on a phone: in
 * `pictures/`, which git ignores. `-- --public` also draws what is kept in `public/` anew: the icons, the cards that
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
  /** Whose session it is seen in. */
  as?: keyof typeof accounts;
  /** What is done on the page before the picture is taken. */
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
  { name: "invitation-unknown", path: "/invitation?token=x" },
  { name: "nothing-here", path: "/no/such/page" },
  { name: "unsubscribe-bad-link", path: "/unsubscribe?token=x" },
  { name: "status", path: "/status" },
  { name: "changes", path: "/changes" },
  { name: "quick-start", path: "/docs" },
  { name: "client", path: "/docs/client" },
  { name: "operation", path: "/docs/api/entitlement" },
  { name: "operation-run", path: "/docs/api/health", act: (page) => page.getByText("Run it here").click() },
  { name: "errors", path: "/docs/api/errors" },
  { name: "palette", path: "/docs", act: (page) => page.keyboard.press("/") },
  { name: "home-licensed", path: "/home", as: "licensed" },
  { name: "home-trial", path: "/home", as: "trial" },
  { name: "home-ending", path: "/home", as: "ending" },
  { name: "home-ended", path: "/home", as: "ended" },
];

/** Those of them that the README shows. */
const shownInReadme: Record<string, string> = {
  front: "light",
  operation: "dark",
  "home-trial": "light",
  palette: "light",
};

const service = await Service.start({ SIGN_IN: "local", SUPPORT_EMAIL: "help@example.com" });
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const isPublic = process.argv.includes("--public");
try {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const sessions = await signEverybodyIn(browser);
  for (const state of states) {
    for (const [look, options] of Object.entries(looks)) await take(state, look, options, sessions);
    process.stdout.write(`${state.name}\n`);
  }
  if (isPublic) {
    await drawIcons(browser);
    await drawCards(browser, service.url);
  }
} finally {
  await browser.close();
  await service.stop();
}
process.exit(); // what held the service's port would go on

type Sessions = Map<string, BrowserContextOptions["storageState"]>;

async function signEverybodyIn(browser: Browser): Promise<Sessions> {
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

async function take(
  { name, path, as = undefined, act }: State,
  look: string,
  options: BrowserContextOptions,
  sessions: Sessions,
): Promise<void> {
  const storageState = as && sessions.get(as);
  const context = await browser.newContext({ ...options, ...(storageState && { storageState }) });
  const page = await context.newPage();
  await page.goto(service.url + path, { waitUntil: "networkidle" });
  await act?.(page);
  await page.waitForTimeout(act ? 600 : 100); // what was done shows, and what moves has come to rest
  await page.screenshot({ path: `${folder}/${name}.${look}.png`, fullPage: name !== "palette" });
  if (isPublic && shownInReadme[name] === look) {
    await page.screenshot({ path: `public/picture-${name}.jpg`, type: "jpeg", quality: 72 });
  }
  await context.close();
}
