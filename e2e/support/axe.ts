import { readFileSync } from "node:fs";
import { devices, expect, type Page } from "@playwright/test";
import type axeCore from "axe-core";

const desktop = { width: 1280, height: 800 };
const { viewport: phone } = devices["Pixel 7"];

/** What may differ with the theme and the width; every other rule looks at the same elements in both. */
const looks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** As most see it, and as it differs most from that. How colours contrast in either theme, `tokens.test.ts` holds too. */
const looksAt = [
  { where: "desktop, light", viewport: desktop, colorScheme: "light", rules: undefined },
  { where: "phone, dark", viewport: phone, colorScheme: "dark", rules: looks },
] as const;

const source = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** Checks that axe finds nothing wrong with a page in either theme, on a desktop and on a phone, and that none scrolls sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const { where, viewport, colorScheme, rules } of looksAt) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // A colour on its way to the other theme's contrasts with nothing.
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
    await expectNoSidewaysScroll(page, where);
    expect(await findViolations(page, rules), where).toEqual([]);
  }
}

/**
 * What axe finds wrong with a page: the rule, and the elements. The page is given axe's script once, however often it
 * is asked: axe's own bridge to Playwright brings it twice each time, which was a third of the browser's work.
 */
export async function findViolations(page: Page, rules?: string[]): Promise<[string, string[]][]> {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(source);
    await page.evaluate(rememberColours);
  }
  return page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: typeof axeCore };
    const options = { resultTypes: ["violations" as const], ...(rules && { runOnly: rules }) };
    const { violations, incomplete } = await axe.run(options);
    // A rule that failed itself has found nothing: axe files it with what somebody should look at.
    const failed = incomplete.filter(({ nodes }) =>
      nodes.some(({ none }) => none.some(({ id }) => id === "error-occurred")),
    );
    return [...violations, ...failed].map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  }, rules);
}

/** axe's own reader of colours, which its types leave out. */
type Colour = { r: number; g: number; b: number; alpha: number; parseString(words: string): Colour };
type WithColours = { axe: { commons: { color: { Color: { prototype: Colour } } } } };

/** Lets axe parse each colour once: it parses the same few thousands of times, which is a quarter of its work. */
function rememberColours(): void {
  const { prototype } = (window as unknown as WithColours).axe.commons.color.Color;
  const parse = prototype.parseString;
  const known = new Map<string, Pick<Colour, "r" | "g" | "b" | "alpha">>();
  prototype.parseString = function (words) {
    const colour = known.get(words);
    if (colour) return Object.assign(this, colour);
    const { r, g, b, alpha } = parse.call(this, words);
    known.set(words, { r, g, b, alpha });
    return this;
  };
}

/** Checks that a page is no wider than its window. */
export async function expectNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, where).toBe(0);
}
