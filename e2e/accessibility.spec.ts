import { expectAccessible } from "./support/axe";
import { test } from "./support/office";

/** Page states that a query parameter selects; the pages themselves are in `every-page.spec.ts`. */
const states = [
  "/waitlist?problem=email",
  "/waitlist?joined",
  "/sign-in?problem=expired",
  "/invitation?token=x",
  "/unsubscribe?token=x",
];

test("axe finds no violation in the messages about a problem or after a form", async ({ page }) => {
  for (const path of states) {
    await page.goto(path);
    await expectAccessible(page);
  }
});
