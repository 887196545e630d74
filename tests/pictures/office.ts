import type { Browser, BrowserContextOptions, Page } from "@playwright/test";
import { giveAuthenticator } from "@/e2e/support/authenticator";
import { dayMs } from "@/lib/config/durations";
import type { State } from "@/tests/pictures/main";
import type { Service } from "@/tests/support/service";

/** The states of the operators' office. Those without `as` come before sign-in. */
export const officeStates: State[] = [
  { name: "office-enrol", path: "/enrol" },
  { name: "office-enter", path: "/enter" },
  { name: "office-invited", path: "/waiting", as: "operator", act: inviteMany },
  { name: "office-refused", path: "/account?email=trial@example.com", as: "operator", act: mistype },
  { name: "office-conflict", path: "/account?email=trial@example.com", as: "operator", act: sendStale },
  { name: "office-ended", path: "/account?email=trial@example.com", as: "operator", act: sendSignedOut },
  { name: "office-today", path: "/today", as: "operator" },
  { name: "office-accounts", path: "/accounts", as: "operator" },
  { name: "office-accounts-filtered", path: "/accounts?find=li&plan=licensed", as: "operator" },
  { name: "office-accounts-trials", path: "/accounts?trials=running", as: "operator" },
  { name: "office-accounts-empty", path: "/accounts?find=zz", as: "operator" },
  { name: "office-account-trial", path: "/account?email=trial@example.com", as: "operator", act: unfold },
  { name: "office-account-licensed", path: "/account?email=licensed@example.com", as: "operator" },
  {
    name: "office-account-ended",
    path: "/account?email=ended@example.com",
    as: "operator",
    act: openDangerZone,
  },
  { name: "office-account-past-due", path: "/account?email=past-due@example.com", as: "operator" },
  { name: "office-account-hobby", path: "/account?email=connected@example.com", as: "operator" },
  { name: "office-account-none", path: "/account?email=stranger@example.com", as: "operator" },
  { name: "office-account-leaving", path: "/account?email=leaving@example.com", as: "operator" },
  { name: "office-customers", path: "/customers", as: "operator" },
  { name: "office-backends", path: "/backends", as: "operator" },
  { name: "office-webhooks", path: "/webhooks", as: "operator" },
  { name: "office-waitlist", path: "/waiting", as: "operator" },
  { name: "office-mails", path: "/mails", as: "operator" },
  { name: "office-plans", path: "/plans", as: "operator" },
  { name: "office-plan", path: "/plans?plan=studio", as: "operator", act: unfold },
  { name: "office-plan-refused", path: "/plans", as: "operator", act: misname },
  { name: "office-banner", path: "/announcement", as: "operator", act: previewBanner },
  { name: "office-audit", path: "/audit", as: "operator" },
  { name: "office-audit-filtered", path: "/audit?what=account+add", as: "operator" },
  { name: "office-commands", path: "/commands", as: "operator" },
  {
    name: "office-proof",
    path: "/account?email=trial@example.com",
    as: "operator",
    act: later(givePlan),
  },
  {
    name: "office-proof-credits",
    path: "/account?email=trial@example.com",
    as: "operator",
    act: later(addCredits),
  },
  {
    name: "office-proof-delete",
    path: "/account?email=trial@example.com",
    as: "operator",
    act: later(deleteNow),
  },
  { name: "office-proof-invite", path: "/waiting", as: "operator", act: later(inviteMany) },
  { name: "office-proof-banner", path: "/announcement", as: "operator", act: later(publishBanner) },
];

const hourMs = dayMs / 24;
let passTime: (ms: number) => void;
let invited = 0;

/** Gives the office something to show. Returns the session of an operator, who has enrolled a passkey. */
export async function openOffice(
  browser: Browser,
  service: Service,
  pass: typeof passTime,
  changeStore: (statements: string) => void,
): Promise<BrowserContextOptions["storageState"]> {
  passTime = pass;
  changeStore(`
    WITH RECURSIVE numbers (n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM numbers WHERE n < 62)
    INSERT INTO accounts (id, email, subject, plan, trial_ends_at_ms, assistant_limit, credit_thousandths, created_at_ms)
    SELECT 'acc_' || n, 'person-' || n || '@company.example', 'sub_' || n, plan, trial_ends_at_ms + n * ${hourMs},
      assistant_limit, credit_thousandths + n * 1250, created_at_ms - n * 17 * ${hourMs}
    FROM numbers, accounts WHERE email = CASE n % 3 WHEN 0 THEN 'licensed' WHEN 1 THEN 'trial' ELSE 'connected' END || '@example.com';
    INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
    SELECT 'given_' || id, id, credit_thousandths, 'given with the account', created_at_ms
    FROM accounts WHERE email LIKE 'person-%' AND credit_thousandths > 0;
    UPDATE onboarding_emails SET state = 'failed', failure = '552 5.2.2 The mailbox is full'
    WHERE due_at_ms <= (SELECT max(created_at_ms) FROM accounts)
      AND account_id IN (SELECT id FROM accounts WHERE email IN ('ended@example.com', 'unpaid@example.com'));
    INSERT INTO sign_in_mail_attempts SELECT 'mail_1', email, 'code', created_at_ms, 'failed', '421 4.7.0 Try again later'
    FROM accounts WHERE email = 'ended@example.com'`);
  for (const name of ["ann", "a-rather-long-first-name.and-a-long-last-name", "zoë"]) {
    await service.submit("/waitlist/join", { email: `${name}@a-company-with-a-long-name.example` });
  }
  const contents = [
    "--feature",
    "voice=Talk to assistants",
    "--limit",
    "assistants=12",
    "--limit",
    "projects=20",
  ];
  await service.adminJson(
    "plan",
    "set",
    "studio",
    "--title",
    "Studio",
    ...contents,
    "--price",
    "price_studio",
  );
  const own = ["--feature", "export", "--limit", "projects=50"];
  await service.adminJson("account", "set", "trial@example.com", ...own);
  await service.adminJson("backend", "add", "worker", "--may", "read,spend");
  await service.adminJson(
    "webhook",
    "add",
    "https://systems.example.com/events",
    "--events",
    "account.created",
  );
  await service.adminJson("banner", "set", "warning", "We are down for repairs at noon, for half an hour");
  const context = await browser.newContext();
  const page = await context.newPage();
  await giveAuthenticator(page);
  const { url } = await service.adminJson<{ url: string }>("operator", "add", "ann");
  await page.goto(url);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.waitForURL("**/today");
  const session = await context.storageState();
  await context.close();
  return session;
}

async function inviteMany(page: Page): Promise<void> {
  const emails = [`new-${invited++}@example.com`, "no address", "licensed@example.com"];
  await page.getByLabel("Others to invite").fill(emails.join("\n"));
  await page.getByRole("button", { name: "Send the invitations" }).click();
}

const open = (page: Page, title: string) => page.locator("summary", { hasText: title }).first().click();

async function mistype(page: Page): Promise<void> {
  await open(page, "Change the balance");
  await page.getByLabel("Credits to add").fill("many");
  await page.getByLabel("Reason").fill("For the outage of Monday");
  await page.getByRole("button", { name: "Change the balance" }).click();
}

async function misname(page: Page): Promise<void> {
  await open(page, "Make a plan");
  await page.getByLabel("Name, which").fill("My Plan");
  await page.getByLabel("Features").fill("voice = Talk to assistants\nexport");
  await page.getByRole("button", { name: "Make the plan" }).click();
}

/** Sends a form that was made from another state of the account. */
async function sendStale(page: Page): Promise<void> {
  await page.locator("form[action='/account/terms'] [name=seen]").evaluate((field: HTMLInputElement) => {
    field.value = "";
  });
  await saveLimit(page);
}

async function sendSignedOut(page: Page): Promise<void> {
  await page.context().clearCookies();
  await saveLimit(page);
}

/** Acts when the last use of the passkey is too old. */
function later(act: (page: Page) => Promise<void>) {
  return async (page: Page) => {
    passTime(6 * 60_000);
    await act(page);
  };
}

async function givePlan(page: Page): Promise<void> {
  await open(page, "Change what you give");
  await page.locator("select[name=plan]").selectOption("studio");
  await page.getByLabel("Given until").fill("2027-03-31T00:00");
  await page.getByRole("button", { name: "Save" }).click();
}

async function addCredits(page: Page): Promise<void> {
  await open(page, "Change the balance");
  await page.getByLabel("Credits to add").fill("-5");
  await page.getByLabel("Reason").fill("Counted twice on Monday");
  await page.getByRole("button", { name: "Change the balance" }).click();
}

async function deleteNow(page: Page): Promise<void> {
  await openDangerZone(page);
  await page.getByRole("button", { name: "Delete" }).click();
}

async function publishBanner(page: Page): Promise<void> {
  await open(page, "Put another in its place");
  await page.getByLabel("Text").fill("Back at one o’clock. Your assistants wait, and nothing is lost.");
  await page.getByRole("button", { name: "Publish the banner" }).click();
}

async function saveLimit(page: Page): Promise<void> {
  await open(page, "Change what you give");
  await page.getByLabel("Assistants at most").fill("7");
  await page.getByRole("button", { name: "Save" }).click();
}

async function unfold(page: Page): Promise<void> {
  for (const summary of await page.locator("summary").all()) await summary.click();
}

async function openDangerZone(page: Page): Promise<void> {
  await page.locator(".danger-zone summary").click();
}

async function previewBanner(page: Page): Promise<void> {
  await open(page, "Put another in its place");
  await page.getByLabel("Text").fill("Back at one o’clock. Your assistants wait, and nothing is lost.");
  await page.getByRole("button", { name: "See how it looks" }).click();
}
