import AxeBuilder from "@axe-core/playwright";
import { devices, expect, type Page } from "@playwright/test";

const desktop = { width: 1280, height: 800 };
const { viewport: phone } = devices["Pixel 7"];

/** What may differ with the theme and the width; every other rule looks at the same elements in both. */
const looks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** As most see it, and as it differs most from that. How colours contrast in either theme, `tokens.test.ts` holds too. */
const looksAt = [
  { where: "desktop, light", viewport: desktop, colorScheme: "light", rules: undefined },
  { where: "phone, dark", viewport: phone, colorScheme: "dark", rules: looks },
] as const;

/** Checks that axe finds nothing wrong with a page in either theme, on a desktop and on a phone, and that none scrolls sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const { where, viewport, colorScheme, rules } of looksAt) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // A colour on its way to the other theme's contrasts with nothing.
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
    await expectNoSidewaysScroll(page, where);
    const axe = new AxeBuilder({ page }).setLegacyMode(); // which opens no page of its own, and there are no frames
    const { violations } = await (rules ? axe.withRules([...rules]) : axe).analyze();
    expect(violations.map(({ id, nodes }) => [where, id, nodes.map(({ html }) => html)])).toEqual([]);
  }
}

/** Checks that a page is no wider than its window. */
export async function expectNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, where).toBe(0);
}
