import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, type Page } from "@playwright/test";
import { makeClock } from "@/tests/support/clock";
import { codeTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";
import { test } from "./support/office";

/** A separate service, because these tests break its store and set its banner. */
let service: Service;
const clock = makeClock();

test.describe.configure({ mode: "serial" });
test.beforeAll(async () => {
  service = await Service.start({
    SIGN_IN: "local",
    LOG_LEVEL: "error",
    SUPPORT_EMAIL: "help@example.com",
    ...clock.environment,
  });
});
test.afterAll(async () => {
  await service.stop({ expectErrors: true });
});

function runSql(sql: string): void {
  const db = new DatabaseSync(join(service.dataDir, "store.sqlite"), { timeout: 5000 });
  db.exec(sql);
  db.close();
}

let visitors = 0;

/** Adds an account, signs in to it and opens home. */
async function comeHome(page: Page, email: string, ...terms: string[]): Promise<void> {
  await service.adminJson("account", "add", email, ...terms);
  // Each has its own client address: together they send more forms than one address may.
  const from = `127.0.1.${++visitors}`;
  const form = await service.submit("/sign-in/send", { email }, { from });
  const cookie = (form.headers["set-cookie"] ?? []).map((set) => set.split(";")[0]).join("; ");
  const code = await codeTo(service.dataDir, email);
  const signedIn = await service.submit("/sign-in/redeem", { code }, { headers: { cookie }, from });
  const cookies = (signedIn.headers["set-cookie"] ?? []).flatMap((set) => {
    const [, name = "", value = "", path = ""] = /^([\w-]+)=([^;]+); Path=([^;]+)/.exec(set) ?? [];
    return value ? [{ name, value, path, domain: "localhost" }] : [];
  });
  await page.context().addCookies(cookies);
  await page.goto(`${service.url}/home`);
}

const open = (page: Page, path: string) => page.goto(`${service.url}${path}`);

/** Advances time until a check passes: a page's timers start with its scripts, which may be after the load event. */
async function passUntil(page: Page, ms: number, isSo: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.clock.runFor(ms);
    await isSo();
  }).toPass();
}

const heading = (page: Page, words: string) => () =>
  expect(page.getByRole("heading", { level: 1 })).toHaveText(words, { timeout: 1000 });

const verdict = (page: Page) => page.locator(".verdict");

test("sessions have names of their own in three lists, and a list ends after a question, without JavaScript", async ({
  browser,
}) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  const email = "three-lists@example.com";
  await comeHome(page, email, "--plan", "licensed");
  const own = `(SELECT id FROM accounts WHERE email = '${email}')`;
  const add = (id: string, kind: string, name: string) =>
    runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms, begun_by, network)
      VALUES ('${id}', ${own}, '${kind}', '${name}', ${clock.now() - 60_000}, ${clock.now() + 3_600_000}, 'owner', '203.0.113.0/24')`);
  for (const nth of [1, 2, 3]) add(`three-browser-${nth}`, "browser", "Firefox on Windows");
  for (const nth of [1, 2]) add(`three-app-${nth}`, "app", "Desk");
  for (let nth = 1; nth <= 14; nth++) await service.token(email);
  await open(page, "/home/access");
  await expect(page.getByText("14 tokens from the operator", { exact: true })).toBeVisible();
  const row = page.getByRole("listitem").filter({ hasText: "Firefox on Windows #2" });
  await expect(row).toContainText("UTC from the address 203.0.113.0/24, not used yet");
  const names = await page
    .locator(".sessions button")
    .evaluateAll((buttons) =>
      buttons.map((button) => button.getAttribute("aria-label") ?? button.textContent),
    );
  expect(new Set(names).size).toBe(names.length);
  const signOut = page.getByRole("button", { name: "Sign out of 3 browsers" });
  await expect(signOut).not.toBeVisible();
  await page.getByText("Sign out of all other browsers").click();
  await signOut.click();
  await expect(
    page.getByRole("status").filter({ hasText: "Signed out of all other browsers." }),
  ).toBeVisible();
  await expect(page.getByText("Firefox on Windows")).toHaveCount(0);
  await expect(page.getByText("Desk", { exact: true })).toBeVisible();
  await page.getByText("Disconnect all apps").click();
  await page.getByRole("button", { name: "Disconnect 2 apps" }).click();
  await expect(page.getByText("No app is connected.")).toBeVisible();
  await expect(page.getByText("14 tokens from the operator", { exact: true })).toBeVisible();
  await page.close();
});

test("the page of access names what each agent needs to connect, and the app that was connected", async ({
  page,
}) => {
  const email = "connecting@example.com";
  await comeHome(page, email, "--plan", "licensed");
  await open(page, "/home/access");
  const card = page.locator("#connect-something");
  const address = `${service.url}/mcp`;
  await expect(card.getByRole("definition").filter({ hasText: "custom connector" })).toBeVisible();
  const lines = [
    `${address}/account`,
    `claude mcp add --transport http corner-office ${address}; claude mcp login corner-office`,
    `codex mcp add corner-office --url ${address}`,
    address,
  ];
  await expect(card.locator("code")).toHaveText(lines);
  const hrefOf = async (name: string) =>
    new URL(String(await card.getByRole("link", { name }).getAttribute("href")));
  const cursor = await hrefOf("Add to Cursor");
  expect(`${cursor.protocol}//${cursor.host}${cursor.pathname}`).toBe(
    "cursor://anysphere.cursor-deeplink/mcp/install",
  );
  const config = Buffer.from(String(cursor.searchParams.get("config")), "base64").toString();
  expect(JSON.parse(config)).toEqual({ url: `${address}/account` });
  const code = await hrefOf("Add to VS Code");
  expect([code.protocol, code.pathname]).toEqual(["vscode:", "mcp/install"]);
  expect(JSON.parse(decodeURIComponent(code.search.slice(1)))).toEqual({
    name: "corner-office",
    type: "http",
    url: `${address}/account`,
  });
  await card.getByText("What we tried").click();
  await expect(card.getByText(/Claude Code: Tried with version \d/)).toBeVisible();
  await expect(card.getByText(/ChatGPT: Tried by its documents alone, on /)).toBeVisible();
  await expect(card.getByText("Not tried by us: set up as its documents say.")).toHaveCount(2);
  await expect(card.getByText("is connected")).toHaveCount(0);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await card.getByRole("button", { name: "Copy the line for Codex" }).click();
  await expect(card.getByText("Copied.")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(lines[2]);
  runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms)
    SELECT 'sess_connecting', id, 'app', 'Desk', ${clock.now()}, ${clock.now() + 60 * 60 * 1000}
    FROM accounts WHERE email = '${email}'`);
  await page.reload();
  await expect(card.getByText(/^“Desk” has been connected since /)).toBeVisible();
});

test("apps are kept with one button, show their last check, and say why they ended", async ({ page }) => {
  const email = "keep-apps@example.com";
  await comeHome(page, email, "--plan", "licensed");
  await open(page, "/home/access");
  await expect(page.getByRole("button", { name: /Keep all/ })).toHaveCount(0);
  const dayMs = 24 * 60 * 60 * 1000;
  const addApp = (name: string, endsInDays: number) =>
    runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, last_seen_at_ms, expires_at_ms,
        last_date_ms, checked_at_ms, told)
      SELECT 'sess_${name}', id, 'app', '${name}', ${clock.now() - 40 * dayMs}, ${clock.now() - dayMs},
        ${clock.now() + endsInDays * dayMs}, ${clock.now() + 100 * dayMs}, ${clock.now() - 4 * 60_000}, 'licensed'
      FROM accounts WHERE email = '${email}'`);
  addApp("Desk", 2);
  addApp("Phone", -2);
  await page.reload();
  const app = page.getByRole("listitem").filter({ hasText: "Desk" });
  await expect(app).toContainText(
    /checked 4 minutes ago, told yes, until .+ without further use, .+ at the latest/,
  );
  await page.getByRole("button", { name: "Keep all for another 180 days" }).click();
  await expect(
    page.getByRole("status").filter({ hasText: "Your apps have another 180 days." }),
  ).toBeVisible();
  const ended = page.getByRole("listitem").filter({ hasText: "Phone" });
  await expect(ended).toContainText(/^Phone\s*Ended on .+: it was not used for 30 days\./);
  await ended.getByRole("link", { name: "Connect again" }).click();
  await expect(page.getByRole("heading", { name: "Connect something" })).toBeInViewport();
  await page.getByRole("button", { name: "Stop these emails" }).click();
  await expect(page.getByText("We do not email you before the last date of an app.")).toBeVisible();
  await page.getByRole("button", { name: "Send these emails" }).click();
  await expect(page.getByText("We email you 7 days before the last date of an app.")).toBeVisible();
});

test("the first steps are ticked automatically, from known facts", async ({ page }) => {
  const email = "first-days@example.com";
  await comeHome(page, email, "--trial-days", "14");
  const firstDays = page.getByRole("region", { name: "Your first days" });
  const done = firstDays.locator("[data-is-done=true]");
  await expect(done).toHaveText(["Sign in: done."]);
  await expect(firstDays.getByRole("status")).toContainText("1 of 4 done");
  await expect(firstDays.locator("input, button")).toHaveCount(0);
  const headers = { Authorization: `Bearer ${await service.token(email)}` };
  expect((await service.ask("/api/entitlement", { headers })).status).toBe(200);
  const own = `(SELECT id FROM accounts WHERE email = '${email}')`;
  runSql(`UPDATE local_sessions SET kind = 'app' WHERE kind = 'program' AND account_id = ${own}`);
  await expect(async () => {
    await page.reload();
    await expect(done).toHaveText(
      ["Sign in: done.", "Connect an app: done.", "Let it check whether your company may run: done."],
      { timeout: 1000 },
    );
  }).toPass();
  await service.adminJson("account", "set", email, "--plan", "licensed");
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your company may run");
  await expect(firstDays).toHaveCount(0);
});

test("all times are shown in the reader's time zone, which the page names", async ({ browser }) => {
  const context = await browser.newContext({ timezoneId: "Asia/Tokyo" });
  const page = await context.newPage();
  await comeHome(page, "tokyo@example.com", "--trial-ends", "2027-01-31T20:30:00Z");
  await expect(verdict(page)).toContainText("1 February at 05:30");
  await expect(page.getByText(/^Checked at \d\d:\d\d \(Asia\/Tokyo\)\./)).toBeVisible();
  await open(page, "/home/access");
  await page.getByText("For developers").click();
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByText(/Valid until \d\d:\d\d\.$/)).toBeVisible();
  expect(await page.locator("time").allTextContents()).not.toContain("UTC");
  await context.close();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a page announces an automatic check only with JavaScript", async ({ page }) => {
      await comeHome(page, `promise-${javaScriptEnabled}@example.com`, "--plan", "licensed");
      await expect(page.locator("p:has(time) noscript")).toBeVisible({
        visible: !javaScriptEnabled,
      });
      await expect(page.getByText("Next automatic check")).toBeVisible({ visible: javaScriptEnabled });
    });
  });
}

test("an open page shows the end of the trial by itself", async ({ page }) => {
  await page.clock.install();
  const soon = new Date(Date.now() + 60_000).toISOString();
  await comeHome(page, "ending@example.com", "--trial-ends", soon);
  await expect(verdict(page)).toContainText("Ends soon");
  await expect(verdict(page)).toContainText("1 hour left");
  clock.pass(60_000);
  await passUntil(page, 60_000, heading(page, "Your trial has ended"));
  await expect(verdict(page)).toContainText("For a plan, write to help@example.com");
  await expect(page.getByText("hour left")).toHaveCount(0);
  await expect(verdict(page)).toContainText("Stopped");
  const help = page.getByRole("link", { name: "Email support" });
  await expect(help).toHaveAttribute(
    "href",
    /^mailto:help@example\.com\?subject=.*&body=.*ending%40example\.com/,
  );
});

test("an open page ticks the app that was approved last once it asks", async ({ page }) => {
  await page.clock.install();
  await comeHome(page, "asks@example.com", "--plan", "hobby");
  runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms)
    SELECT 'sess_asks', id, 'app', 'Claude', ${clock.now()}, ${clock.now() + 60 * 60 * 1000}
    FROM accounts WHERE email = 'asks@example.com'`);
  await page.reload();
  const app = page.locator(".latest-app");
  await expect(app).toContainText("“Claude” has been connected since");
  await expect(app).toHaveAttribute("data-is-done", "false");
  await expect(app).toContainText("May my company run, and how many credits are left?");
  runSql(`UPDATE local_sessions SET checked_at_ms = ${clock.now()}, told = 'hobby' WHERE id = 'sess_asks'`);
  await passUntil(page, 10_000, () =>
    expect(app).toContainText("“Claude” just asked: your company may run.", { timeout: 3000 }),
  );
  await expect(app).toHaveAttribute("data-is-done", "true");
});

test("an outage is shown as an outage, and the page recovers by itself", async ({ page }) => {
  await page.clock.install();
  await comeHome(page, "outage@example.com", "--plan", "licensed");
  runSql("ALTER TABLE accounts RENAME TO accounts_away");
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "We cannot check your account at the moment",
  );
  await expect(page).toHaveURL(`${service.url}/home`);
  runSql("ALTER TABLE accounts_away RENAME TO accounts");
  await passUntil(page, 30_000, heading(page, "Your company may run"));
});

test("an open page renews its session, and opens sign-in when the session has ended", async ({ page }) => {
  await page.clock.install();
  await comeHome(page, "open@example.com", "--plan", "licensed");
  const renewals: number[] = [];
  page.on("response", (answer) => {
    if (answer.url().endsWith("/sign-in/renew")) renewals.push(answer.status());
  });
  await passUntil(page, 45_000, async () => expect(renewals.length).toBeGreaterThanOrEqual(2));
  expect(new Set(renewals)).toEqual(new Set([204]));
  runSql("DELETE FROM local_sessions");
  await passUntil(page, 45_000, () =>
    expect(page).toHaveURL(`${service.url}/sign-in?problem=ended`, { timeout: 1000 }),
  );
});

test("a browser that returns after a minute is signed in, and without its cookies must sign in again", async ({
  page,
}) => {
  await comeHome(page, "back@example.com", "--plan", "licensed");
  await page.context().clearCookies({ name: "__session" });
  await page.goto(`${service.url}/home`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your company may run");
  await page.context().clearCookies();
  await page.goto(`${service.url}/home`);
  await expect(page).toHaveURL(`${service.url}/sign-in`);
});

test("a token is shown when the browser refuses to copy it", async ({ page }) => {
  await comeHome(page, "shown@example.com", "--plan", "licensed");
  await open(page, "/home/access");
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.getByText("For developers").click();
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByLabel("Token")).toBeVisible();
  const token = await page.getByLabel("Token").inputValue();
  const answer = await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
});

test("a promo is shown on public pages only, a warning everywhere", async ({ page }) => {
  const notice = page.getByRole("complementary", { name: "Notice" });
  await service.adminJson("banner", "set", "promo", "Half price");
  clock.pass(15_000); // the lifetime of the service's cached banner
  await comeHome(page, "banner@example.com", "--plan", "licensed");
  await page.goto(`${service.url}/waitlist`);
  await expect(notice).toHaveText("Half price");
  await page.goto(`${service.url}/home`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(notice).toHaveCount(0);

  await service.adminJson("banner", "set", "warning", "Repairs at noon");
  clock.pass(15_000);
  await page.goto(`${service.url}/home`);
  await expect(notice).toHaveText("Repairs at noon");
  for (const path of ["/", "/docs/api", "/unsubscribe?token=x"]) {
    await page.goto(service.url + path);
    await expect(notice).toHaveText("Repairs at noon");
    await expect(notice).toBeInViewport();
  }
  await page.goto(`${service.url}/docs/client`);
  await page.getByRole("button", { name: "Dismiss this notice" }).press("Enter");
  await expect(page).toHaveURL(`${service.url}/docs/client#main`);
  await expect(notice).toHaveCount(0);
  await page.goto(`${service.url}/home`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(notice).toHaveCount(0);
});
