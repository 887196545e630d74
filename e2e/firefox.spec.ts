import { expect, test } from "@playwright/test";
import { newCodeTo } from "@/tests/support/mailbox";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { findFirefox, startFirefox } from "./support/firefox";
import { newEmail } from "./support/office";

const program = findFirefox();

if (program) {
  test("in Firefox without scripts, an owner whose trial has ended signs in and buys a licence", async () => {
    const stripe = await StripeStandIn.start();
    const port = String(await reservePort());
    const appUrl = { PORT: port, APP_URL: `http://localhost:${port}` };
    const service = await Service.start({ ...stripe.environment, ...appUrl, SIGN_IN: "local" });
    const firefox = await startFirefox(program);
    const email = newEmail("buyer");
    await service.adminJson("account", "add", email, "--trial-ends", "2026-01-01");

    await firefox.open(`${service.url}/sign-in`);
    await firefox.type("email", email);
    await firefox.click("button", "Send me a code");
    await firefox.type("code", await newCodeTo([service.dataDir], email, []));
    await firefox.click("button", "Sign in");
    await firefox.waitFor(`${service.url}/home`);
    await firefox.find("//h1[.='Your trial has ended']");

    await firefox.click("a", "Choose a licence");
    await firefox.click("button", "Buy");
    await firefox.click("a", "Back");
    await firefox.waitFor(`${service.url}/home/billing?checkout=cancelled`);
    await firefox.click("button", "Buy");
    await firefox.click("button", "Pay");
    await firefox.waitFor(`${service.url}/home/billing?checkout=bought`);
    await firefox.click("a", "Home");
    await firefox.find("//h1[.='Your company may run']");
    expect(stripe.subscriptions.size).toBe(1);

    await firefox.stop();
    await service.stop();
    await stripe.stop();
  });
}
