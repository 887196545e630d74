import { expect } from "@playwright/test";
import { openAccount, test } from "./support/office";

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

test("an email that is longer than a phone is wide makes no page wider", async ({
  page,
  office: { service },
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const unique = crypto.randomUUID().replaceAll("-", "");
  const email = `bartholomew.featherstonehaugh.${unique}@department-of-geosciences.example`;
  const expectNarrow = async () => {
    await expect(page.getByRole("main").getByText(email).first()).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), page.url()).toBe(320);
  };
  await page.goto("/waitlist");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Join the waitlist" }).click();
  await expectNarrow();
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await expectNarrow();
  await openAccount(page, service, email);
  await page.goto("/home/account?change");
  await page.getByLabel("New email").fill(email.replace("bart", "m"));
  await page.getByRole("button", { name: "Send the emails" }).click();
  await expect(page.getByText("It becomes")).toBeVisible();
  await expectNarrow();
});
