import AxeBuilder from "@axe-core/playwright";
import { devices, expect, type Page } from "@playwright/test";

const desktop = { width: 1280, height: 800 };
const { viewport: phone } = devices["Pixel 7"];

/** What may differ with the theme and the width; every other rule looks at the same elements in all four. */
const looks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** Checks that axe finds nothing wrong with a page in either theme, on a desktop and on a phone, and that none scrolls sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const [width, viewport] of Object.entries({ desktop, phone })) {
    for (const colorScheme of ["light", "dark"] as const) {
      const where = `${width}, ${colorScheme}`;
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      // A colour on its way to the other theme's contrasts with nothing.
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow, `${where}: the page never scrolls sideways`).toBe(0);
      const axe = new AxeBuilder({ page }).setLegacyMode(); // which opens no page of its own, and there are no frames
      const isFirst = viewport === desktop && colorScheme === "light";
      const { violations } = await (isFirst ? axe : axe.withRules(looks)).analyze();
      expect(violations.map(({ id, nodes }) => [where, id, nodes.map(({ html }) => html)])).toEqual([]);
    }
  }
}
