import { expect } from "@playwright/test";
import { test } from "./support/office";

/* What small phones show, in every font that may replace ours. */

test.use({ bypassCSP: true });

const fonts = ["Georgia", "DejaVu Serif", "Liberation Serif", "DejaVu Sans", "Liberation Sans", "monospace"];

test("the header is one row on small phones", async ({ page }) => {
  await page.goto("/docs");
  const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();
  expect(links).toHaveLength(3);
  for (const font of ["", ...fonts]) {
    if (font) await page.addStyleTag({ content: `:root { --serif: ${font}; --sans: ${font}; }` });
    await page.evaluate(() => document.fonts.ready);
    for (const width of [320, 360, 390]) {
      await page.setViewportSize({ width, height: 640 });
      const centres = await Promise.all(
        links.map(async (link) => {
          const { x = 0, y = 0, width: own = 0, height = 0 } = (await link.boundingBox()) ?? {};
          expect(x + own, font).toBeLessThanOrEqual(width);
          return Math.round(y + height / 2);
        }),
      );
      expect(new Set(centres).size, `${width} px, in ${font || "our own fonts"}: ${centres}`).toBe(1);
    }
  }
});

test("a part that works has a row of the same height before and after our fonts have loaded", async ({
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 568 });
  const heights = async () => {
    await page.goto("/status");
    await page.evaluate(() => document.fonts.ready);
    const rows = page.getByRole("main").getByRole("listitem").filter({ hasText: "Works" });
    return rows.evaluateAll((found) => found.map((row) => row.getBoundingClientRect().height));
  };
  await page.route("**/*.woff2", (route) => route.abort());
  const before = await heights();
  await page.unroute("**/*.woff2");
  for (const [at, height] of (await heights()).entries())
    expect(Math.abs(height - (before[at] ?? 0)), `row ${at}`).toBeLessThan(3);
});
