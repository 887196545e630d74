import { describe, expect, it } from "vitest";
import { withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

describe.each(engines)("a page of which one part cannot be read, on $name", async (engine) => {
  const shop = await startShop(engine, await withBackendApi());
  const { service, stage } = shop;
  const { buyer } = await shop.admitLicensed("--credits", "10");

  it.each([
    ["billing_subscriptions", "/home/billing", "We cannot show your purchases at the moment."],
    ["credit_entries", "/home/billing", "We cannot show the entries at the moment."],
    ["credit_limits", "/home/billing", "We cannot show what you have set at the moment."],
    ["credit_limits", "/home/account", "We cannot show what you have set at the moment."],
    ["passkeys", "/home/access", "We cannot show your sessions at the moment. Nothing is lost."],
    ["passkeys", "/home/access", "We cannot show your passkeys at the moment. Nothing is lost."],
    ["passkeys", "/home", "We cannot show your apps at the moment. Nothing is lost."],
    ["billing_subscriptions", "/home", undefined],
  ])("without %s, shows at %s all the others, and says so", async (table, path, words) => {
    const whole = await buyer.browser.open(path);
    await stage.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const { status, text } = await buyer.browser.open(path);
    await stage.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    await eventually(() => expect(service.takeErrors().length).toBeGreaterThan(0));
    expect(status).toBe(200);
    const headings = (html: string) => html.match(/<h[12][^>]*>[^<]+/g) ?? [];
    expect(headings(text).length).toBeGreaterThan(headings(whole.text).length / 2);
    expect(text, "of the tabs, its own alone is current").not.toContain('aria-current="true"');
    if (words) expect([whole.text.includes(words), text.includes(words)]).toEqual([false, true]);
  });
});
