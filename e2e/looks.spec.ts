import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { newEmail, signIn, test } from "./support/office";

/** One page of each kind. */
const kinds = [
  "/",
  "/docs",
  "/docs/client",
  "/docs/api/entitlement",
  "/docs/api/errors",
  "/status",
  "/changes",
  "/waitlist?problem=email",
  "/sign-in?problem=over",
  "/unsubscribe?token=x",
  "/no/such/page",
];

const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const path of kinds) {
  test.describe(path, () => {
    test("is axe clean in forced colours, in both themes", async ({ page }) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ forcedColors: "active", colorScheme });
        await page.goto(path);
        // Colours are the reader's there; all else holds.
        const axe = new AxeBuilder({ page }).setLegacyMode().disableRules(["color-contrast"]);
        const { violations } = await axe.analyze();
        expect(violations.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html)])).toEqual(
          [],
        );
      }
    });

    test("never scrolls sideways: at 320 px, and at 200 % of a small screen", async ({ page }) => {
      for (const [width, height] of [
        [320, 568],
        [640, 400],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.goto(path);
        expect(await overflow(page), `${width} px`).toBe(0);
      }
    });

    test("is walked with the keyboard alone, and shows where one is", async ({ page }) => {
      await page.goto(path);
      const seen = new Set<string>();
      for (let presses = 0; presses < 100; presses++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const focused = document.activeElement;
          if (!focused || focused === document.body) return undefined;
          const shown = focused.matches("input[type=radio]") ? focused.parentElement : focused;
          const { width, height } = focused.getBoundingClientRect();
          const { outlineStyle } = getComputedStyle(shown ?? focused);
          const links = [...document.querySelectorAll("*")];
          return {
            name: String(links.indexOf(focused)),
            isSeen: width * height > 0 && outlineStyle !== "none",
          };
        });
        if (!at || seen.has(at.name)) break;
        expect(at.isSeen, `stop ${presses}`).toBe(true);
        seen.add(at.name);
      }
      expect(seen.size).toBeGreaterThanOrEqual(4);
    });
  });
}

test("nothing moves where people ask for less motion", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const path of ["/", "/docs/api/entitlement"]) {
    await page.goto(path);
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll("*")].flatMap((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element);
        const isStill = animationName === "none" && /^0s(, 0s)*$/.test(transitionDuration);
        return isStill ? [] : [`${element.tagName} ${transitionDuration} ${animationName}`];
      }),
    );
    expect(moving).toEqual([]);
  }
});

test("a document prints its words and all of its samples, and nothing to press", async ({ page }) => {
  await page.goto("/docs/client");
  await page.emulateMedia({ media: "print" });
  for (const gone of [".contents", ".sections", ".copy", ".foot nav", ".tabs fieldset"]) {
    await expect(page.locator(gone).first(), gone).toBeHidden();
  }
  for (const shown of ["class CompanyGate:", "actor CompanyGate", "What each answer means"]) {
    await expect(page.getByText(shown).first()).toBeVisible();
  }
});

test("home holds in forced colours and at 320 px", async ({ page, office: { service } }) => {
  const email = newEmail("narrow");
  await service.adminJson(
    "account",
    "add",
    email,
    "--trial-days",
    "2",
    "--assistant-limit",
    "40",
    "--credits",
    "5",
  );
  await signIn(page, { service }, email);
  await page.emulateMedia({ forcedColors: "active" });
  await page.setViewportSize({ width: 320, height: 568 });
  expect(await overflow(page)).toBe(0);
  await expect(page.locator(".light")).toHaveText("Ends soon");
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .disableRules(["color-contrast"])
    .analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
});
