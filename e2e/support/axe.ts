import { readFileSync } from "node:fs";
import { devices, expect, type Page } from "@playwright/test";
import type axeCore from "axe-core";

const desktop = { width: 1280, height: 800 };
const { viewport: phone } = devices["Pixel 7"];

/** The rules whose result may depend on theme and width; all others need only one run. */
const looks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** The commonest combination and the one most unlike it. `tokens.test.ts` checks contrast in both themes too. */
const looksAt = [
  { where: "desktop, light", viewport: desktop, colorScheme: "light", rules: undefined },
  { where: "phone, dark", viewport: phone, colorScheme: "dark", rules: looks },
] as const;

const source = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** Checks with axe in both themes, on desktop and phone, and that the page does not scroll sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const { where, viewport, colorScheme, rules } of looksAt) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await expectNoSidewaysScroll(page, where);
    expect(await findViolations(page, rules), where).toEqual([]);
  }
}

/**
 * Returns axe's violations: the rule and the elements. The script is injected once per page: axe's own bridge to
 * Playwright injects it twice per call, which was a third of the browser's work.
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
    // axe reports a rule that threw an error as incomplete, with those that need a manual check.
    const failed = incomplete.filter(({ nodes }) =>
      nodes.some(({ none }) => none.some(({ id }) => id === "error-occurred")),
    );
    return [...violations, ...failed].map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  }, rules);
}

/** axe's colour parser, which its types omit. */
type Colour = { r: number; g: number; b: number; alpha: number; parseString(words: string): Colour };
type WithColours = { axe: { commons: { color: { Color: { prototype: Colour } } } } };

/** Caches axe's parsed colours: it parses the same few thousands of times, a quarter of its work. */
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

/** Checks that a page is not wider than its window, and no sample wider than its box. */
export async function expectNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(() =>
    [...document.querySelectorAll("html, pre")].map(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    ),
  );
  expect(Math.max(...overflow), where).toBe(0);
}
