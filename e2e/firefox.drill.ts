import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { eventually } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { newCodeTo } from "@/tests/support/mailbox";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { newEmail } from "./support/office";

/** The path of an installed Firefox; `undefined` if there is none. */
const program = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);

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

/** With port 0 the system chooses one, and the profile then has it in `MarionetteActivePort`. */
const preferences = 'user_pref("marionette.port", 0);\nuser_pref("javascript.enabled", false);\n';

/**
 * Starts a Firefox without scripts, driven by Marionette, the protocol under geckodriver: Playwright drives a Firefox of
 * its own, and sends to others what Debian's does not know (`emulation.setMediaFeaturesOverride`).
 */
async function startFirefox(program: string) {
  const profile = createFolder();
  writeFileSync(join(profile, "user.js"), preferences);
  const parameters = ["--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"];
  spawnLeashed(program, parameters, { stdio: "ignore", env: { ...process.env, HOME: profile } });
  const port = await eventually(async () => Number(readFileSync(join(profile, "MarionetteActivePort"))));
  const socket = createConnection(port, "127.0.0.1");
  const messages = readMessages(socket);
  await messages.next(); // its greeting
  let sent = 0;

  /** Sends a command of WebDriver and returns its result. */
  async function send(command: string, values: object = {}): Promise<{ value?: unknown }> {
    const message = JSON.stringify([0, ++sent, command, values]);
    socket.write(`${Buffer.byteLength(message)}:${message}`);
    const { value: answer } = await messages.next();
    if (answer?.[2] !== null) throw new Error(`${command}: ${JSON.stringify(answer)}`);
    return answer[3];
  }

  /** Waits for an element. */
  async function find(xpath: string): Promise<string | undefined> {
    const wanted = { using: "xpath", value: xpath };
    const { value } = await eventually(() => send("WebDriver:FindElement", wanted));
    return Object.values(value as Record<string, string>)[0];
  }

  await send("WebDriver:NewSession", { capabilities: {} });
  return {
    find,
    open: (url: string) => send("WebDriver:Navigate", { url }),
    /** Clicks the first link or button with these words. */
    async click(element: "a" | "button", words: string): Promise<void> {
      const id = await find(`//${element}[normalize-space()="${words}"]`);
      await send("WebDriver:ElementClick", { id });
    },
    async type(name: string, text: string): Promise<void> {
      await send("WebDriver:ElementSendKeys", { id: await find(`//input[@name="${name}"]`), text });
    },
    waitFor(url: string): Promise<void> {
      return eventually(async () => {
        const { value } = await send("WebDriver:GetCurrentURL");
        if (value !== url) throw new Error(`at ${value}, not at ${url}`);
      });
    },
    async stop(): Promise<void> {
      await send("Marionette:Quit", { flags: ["eForceQuit"] });
      socket.destroy();
    },
  };
}

type Answer = [type: 1, id: number, failure: object | null, result: { value?: unknown }];

/** Reads messages: JSON after its length in bytes and a colon. There is one at a time, the answer to one command. */
async function* readMessages(socket: Socket): AsyncGenerator<Answer, undefined> {
  let received = Buffer.alloc(0);
  for await (const data of socket) {
    received = Buffer.concat([received, data]);
    const colon = received.indexOf(":");
    const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)));
    if (colon < 0 || received.length < end) continue;
    yield JSON.parse(received.subarray(colon + 1, end).toString());
    received = received.subarray(end);
  }
}
