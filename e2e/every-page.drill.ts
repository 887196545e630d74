import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, type Page, type Request } from "@playwright/test";
import { files } from "@/lib/http/register/files";
import { pages, type Page as RegisteredPage } from "@/lib/http/register/pages";
import { mailTo } from "@/tests/support/mailbox";
import { expectAccessible, expectNoSidewaysScroll, findViolations } from "./support/axe";
import { newEmail, type Office, openAccount, settle, test } from "./support/office";

/*
 * Checks of every page in the register, so that a new page is covered too: axe in both themes and in forced colours,
 * small screens and large text, the keyboard, motion, print, loaded scripts, and no third-party requests.
 */

type Name = keyof typeof pages;

/** Steps to open the pages that need more than their address. */
const ways: Partial<Record<Name, (page: Page, office: Office) => Promise<unknown>>> = {
  home: openAsOwner(pages.home.path),
  billing: openAsOwner(pages.billing.path),
  access: openAsOwner(pages.access.path),
  connectApp: openAsOwner(`${pages.connectApp.path}?app=claude`),
  developers: openAsOwner(pages.developers.path),
  account: openAsOwner(pages.account.path),
  code: async (page, { service }) => {
    const email = newEmail("every");
    await service.adminJson("account", "add", email);
    await page.goto("/sign-in");
    await page.getByLabel("Email").fill(email);
    await page.keyboard.press("Enter");
    await page.waitForURL("/sign-in/code");
  },
  invitation: async (page, { service }) =>
    page.goto((await service.adminJson<{ url: string }>("invite", newEmail("every"))).url),
  unsubscribe: async (page, { service }) => {
    const email = newEmail("every");
    await service.adminJson("account", "add", email);
    await page.goto((await service.unsubscribePath(email)).replace("/api/email", ""));
  },
  keepAccount: async (page, office) => {
    await openAsOwner(pages.account.path)(page, office);
    await page.getByText("Delete my account").click();
    await page.getByRole("button", { name: "Delete in 24 hours" }).click();
    const email = (await page.locator("main .who").textContent()) ?? "";
    const { text = "" } = await mailTo(office.service.dataDir, email, /will be deleted/);
    await page.goto(/\/keep-account\S+/.exec(text)?.[0] ?? "");
  },
  emailChange: async (page, office) => {
    await openAsOwner(pages.account.path)(page, office);
    const email = newEmail("every");
    await page.locator("summary", { hasText: "Change email" }).click();
    await page.getByLabel("New email").fill(email);
    await page.getByRole("button", { name: "Send the emails" }).click();
    const { text = "" } = await mailTo(office.service.dataDir, email, /email/i);
    await page.goto(/\/change-email\S+/.exec(text)?.[0] ?? "");
    await expect(page.getByRole("button", { name: "Confirm my address" })).toBeVisible();
  },
  connect: async (page, { service }) => {
    await openAccount(page, service, newEmail("every"), "--plan", "licensed");
    const form = { client_id: "native", scope: "account:read" };
    const asked = await (await page.request.post("/oauth/device", { form })).json();
    await page.goto("/connect");
    await page.getByLabel("Code").fill(asked.user_code);
    await page.getByRole("button", { name: "Continue" }).click();
  },
  status: async (page, { service }) => {
    const nowMs = Date.now();
    const store = new DatabaseSync(join(service.dataDir, "store.sqlite"), { timeout: 5000 });
    store.exec(`INSERT INTO status_outages (part, started_at_ms, seen_at_ms, ended_at_ms)
      VALUES ('Pages and documents', ${nowMs - 5_700_000}, ${nowMs}, ${nowMs})`);
    store.close();
    await page.goto(pages.status.path);
    await expect(page.getByText("95 minutes", { exact: true })).toBeVisible();
  },
  search: (page) => page.goto("/docs/search?q=token"),
  nothingHere: (page) => page.goto("/no/such/page"),
};

function openAsOwner(path: string) {
  return async (page: Page, { service }: Office) => {
    const terms = ["--trial-days", "2", "--assistant-limit", "40", "--credits", "5"];
    await openAccount(page, service, newEmail("every"), ...terms);
    await page.goto(path);
  };
}

for (const name of Object.keys(pages) as Name[]) {
  test(`${pages[name].path} is accessible, printable and loads only its own scripts`, async ({
    page,
    office,
    baseURL,
  }) => {
    const faults = listenForFaults(page, `${baseURL}/`);
    const scripts = listenForScripts(page);
    await (ways[name]?.(page, office) ?? page.goto(pages[name].path));
    await settle(page);
    await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
    await test.step("axe, in both themes, on a screen and a phone", () => expectAccessible(page));
    await test.step("axe, in forced colours", () => expectAccessibleInForcedColours(page));
    await test.step("320 px, and 200 % of a small screen", () => expectReflow(page));
    await test.step("the keyboard alone", () => expectWalkable(page));
    await test.step("no motion", () => expectStill(page));
    await test.step("paper", () => expectPrintable(page));
    // Checked last, so that late requests are counted.
    await test.step("its own script alone, and a small one", () => expectScripts(pages[name], page, scripts));
    expect(faults).toEqual([]);
  });
}

test("axe finds no violation in the messages about a problem or after a form", async ({ page }) => {
  for (const path of [
    ...["/waitlist?problem=email", "/waitlist?joined", "/sign-in?problem=expired"],
    ...["/invitation?token=x", "/unsubscribe?token=x"],
  ]) {
    await page.goto(path);
    await expectAccessible(page);
  }
});

/** Compressed sizes, as sent. */
const maxScriptBytes = { documents: 10 * 1024, pages: 2 * 1024, home: 10 * 1024 };

const scriptFiles = { documents: files.documentsScript, pages: files.script, home: files.homeScript };

/** Collects the scripts that the finally open page loads. */
function listenForScripts(page: Page): Request[] {
  const scripts: Request[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) scripts.length = 0;
    if (request.resourceType() === "script") scripts.push(request);
  });
  return scripts;
}

async function expectScripts({ loads }: RegisteredPage, page: Page, scripts: Request[]): Promise<void> {
  expect(await page.locator("script:not([src])").count()).toBe(0);
  const own = (["documents", "pages", "home"] as const).filter((name) => loads.includes(name));
  expect(scripts.map((script) => new URL(script.url()).pathname)).toEqual(
    own.map((name) => scriptFiles[name].path),
  );
  for (const [at, script] of scripts.entries()) {
    const { responseBodySize } = await script.sizes();
    expect(responseBodySize).toBeLessThanOrEqual(maxScriptBytes[own[at] ?? "pages"]);
  }
}

/** Collects the browser's errors and its requests to other hosts. */
function listenForFaults(page: Page, ours: string): string[] {
  const faults: string[] = [];
  page.on("console", (message) => {
    const isThePageItself = message.text().includes("404") && message.location().url === page.url();
    if (message.type() === "error" && !isThePageItself) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(ours)) faults.push(request.url());
  });
  return faults;
}

/** Forced colours replace ours: nothing may depend on our colours. */
async function expectAccessibleInForcedColours(page: Page): Promise<void> {
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  expect(await findViolations(page, ["link-in-text-block"])).toEqual([]);
  // Without a border, a button looks like plain text in forced colours.
  const withoutEdge = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button:not(.linklike, .banner button), .button")].flatMap(
      (element) =>
        element.checkVisibility() && Number.parseFloat(getComputedStyle(element).borderTopWidth) === 0
          ? [element.outerHTML.slice(0, 120)]
          : [],
    ),
  );
  expect(withoutEdge).toEqual([]);
  await page.emulateMedia({ forcedColors: null, colorScheme: null });
}

async function expectReflow(page: Page): Promise<void> {
  for (const [width, height] of [
    [320, 568],
    [640, 400],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expectNoSidewaysScroll(page, `${width} px`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Tab reaches every control and the focus is visible. */
async function expectWalkable(page: Page): Promise<void> {
  // Start at the first control, whichever field took the focus.
  await page.getByRole("link", { name: "Skip to content" }).focus();
  const pressable = await page.evaluate(
    () =>
      [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary")].filter(
        (element) =>
          element.checkVisibility({ visibilityProperty: true }) &&
          element.tabIndex >= 0 &&
          !element.matches("[type=radio]:not(:checked), [type=hidden], :disabled, [inert] *"),
      ).length,
  );
  // Each element is checked when it receives the focus, the first one too.
  await page.evaluate(() => {
    const stops: Stop[] = [];
    Object.assign(window, { stops });
    const look = () => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return;
      const shown = focused.matches("input[type=radio]") ? focused.parentElement : focused;
      const { width, height } = focused.getBoundingClientRect();
      const { outlineStyle } = getComputedStyle(shown ?? focused);
      const isSeen = width * height > 0 && outlineStyle !== "none";
      const at = [...document.querySelectorAll("*")].indexOf(focused);
      stops.push({ at, isSeen, what: focused.outerHTML.slice(0, 120) });
    };
    look();
    document.addEventListener("focusin", look);
  });
  let stops: Stop[] = [];
  let before: number;
  const different = () => new Set(stops.map(({ at }) => at)).size;
  do {
    before = stops.length;
    // The browser handles key presses in order, so there is no need to wait for each.
    await Promise.all(Array.from({ length: 10 }, () => page.keyboard.press("Tab")));
    stops = await page.evaluate(() => (window as unknown as { stops: Stop[] }).stops);
  } while (stops.length > before && different() === stops.length); // until the focus wraps around
  expect(stops.filter(({ isSeen }) => !isSeen)).toEqual([]);
  expect(different()).toBeGreaterThanOrEqual(pressable);
}

/** A focused element: its index, and whether its focus is visible. */
type Stop = { at: number; isSeen: boolean; what: string };

/** Nothing moves or fades, so reduced motion needs no rules. */
async function expectStill(page: Page): Promise<void> {
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll("*")].flatMap((element) => {
      const { transitionDuration, animationName } = getComputedStyle(element);
      const isStill = animationName === "none" && /^0s(, 0s)*$/.test(transitionDuration);
      return isStill ? [] : [`${element.tagName} ${transitionDuration} ${animationName}`];
    }),
  );
  expect(moving).toEqual([]);
}

/** The printed page shows text and no controls. */
async function expectPrintable(page: Page): Promise<void> {
  await page.emulateMedia({ media: "print" });
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const pressable = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, input, .skip, .contents, .foot nav a")].flatMap(
      (element) => (element.checkVisibility() ? [element.outerHTML.slice(0, 120)] : []),
    ),
  );
  expect(pressable).toEqual([]);
}
