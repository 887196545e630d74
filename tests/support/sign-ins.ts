import { afterAll } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { codesTo, newCodeTo } from "@/tests/support/mailbox";
import type { Environment, Service } from "@/tests/support/service";

/** A service that runs as long as its test file, and functions that sign browsers in to it. */
export type Office = {
  service: Service;
  /** Opens an account, and returns its owner's signed-in browser. */
  admit: (email: string) => Promise<Browser>;
  /** Gives a browser a session token that is valid for the next minute at least. */
  freshen: (browser: Browser) => Promise<void>;
};

const terms = ["--plan", "licensed", "--credits", "5"];

/** Both sign-in modes; an app's tokens are ours in either. */
export const signIns: { name: string; open: (environment: Environment) => Promise<Office> }[] = [
  {
    name: "local sign-in",
    async open(environment) {
      const service = await startService(environment);
      return {
        service,
        admit: (email) => Browser.admit(service, email, ...terms),
        async freshen(browser) {
          await browser.open("/sign-in/renew");
        },
      };
    },
  },
  {
    name: "Clerk",
    async open(environment) {
      const clerk = await ClerkInstance.start();
      afterAll(() => clerk.stop());
      const service = await startService({ ...environment, ...clerk.environment });
      const subjects = new Map<Browser, string>();
      const freshen = async (browser: Browser) => {
        const sub = subjects.get(browser);
        browser.cookies.set("__session", clerk.mint({ sub, sid: `sess_of_${sub}` }));
      };
      return {
        service,
        freshen,
        async admit(email) {
          const subject = `user_${subjects.size + 1}`;
          await service.adminJson("account", "add", email, ...terms, "--subject", subject);
          const browser = new Browser(service);
          subjects.set(browser, subject);
          await freshen(browser);
          return browser;
        },
      };
    },
  },
];

/**
 * Signs in by a mailed code in a browser that may be signed in.
 *
 * @returns where that leads
 */
export async function redeemIn(browser: Browser, service: Service, email: string, back = "") {
  const earlier = await codesTo([service.dataDir], email);
  await browser.submit("/sign-in/send", { email, ...(back && { back }) });
  const code = await newCodeTo([service.dataDir], email, earlier);
  return (await browser.submit("/sign-in/redeem", { code })).headers.location;
}
