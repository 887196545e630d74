import { afterAll, describe, expect, it } from "vitest";
import { Authenticator } from "@/tests/support/authenticator";
import { startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { makeApp } from "@/tests/support/oauth-libraries";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { answerApp } from "@/tests/support/owner";
import * as passkeys from "@/tests/support/passkeys";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

const secrets = [besideDatabaseUrl.APP_SECRET, ..."123".split("").map((digit) => digit.repeat(40))];

describe.each(engines)("an APP_SECRET that changes three times, on $name", async (engine) => {
  const email = "ceo@example.com";
  const invited = "invited@example.com";
  /** Whether the mail server refuses mail to the invited person for now. */
  let isHeld = true;

  const stage = await startStage(engine);
  const inbox = await startSmtpInbox({
    onRcptTo: ({ address }, _, callback) =>
      callback(
        isHeld && address === invited ? Object.assign(new Error("later"), { responseCode: 451 }) : null,
      ),
  });
  const [port, officePort] = [await reservePort(), await reservePort()];
  const world = {
    DATA_DIR: createFolder(),
    ...stage.environment,
    PORT: String(port),
    APP_URL: `http://localhost:${port}`,
    OFFICE_PORT: String(officePort),
    EMAIL_FROM: "office@example.com",
    SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
  };
  /** Starts the service after this many rotations. */
  const start = async (rotations: number) => {
    const service = await Service.start({
      ...world,
      APP_SECRET: secrets[rotations] ?? "",
      ...(rotations > 0 && { APP_SECRET_PREVIOUS: secrets[rotations - 1] ?? "" }),
    });
    await service.ready();
    return service;
  };
  let service = await start(0);
  afterAll(async () => {
    await service.stop();
    await inbox.stop();
  });

  const subjectsTo = (address: string) =>
    inbox.received
      .filter(({ to }) => to === address)
      .map(({ raw }) => /^Subject: (.*)$/m.exec(String(raw))?.[1] ?? "");

  /** Requests a code in a browser, and returns it once it is mailed. */
  async function requestCode(browser: Browser): Promise<string> {
    const codes = () => subjectsTo(email).flatMap((subject) => /^\d{6}(?= is your)/.exec(subject)?.[0] ?? []);
    const before = codes().length;
    await browser.submit("/sign-in/send", { email });
    return eventually(() => codes()[before] ?? Promise.reject(new Error("no code")));
  }

  it("loses nothing that was in flight", { timeout: 120_000 }, async () => {
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const owner = new Browser(service);
    await owner.submit("/sign-in/redeem", { code: await requestCode(owner) });
    const authenticator = new Authenticator(service.url);
    expect((await passkeys.add(owner, authenticator)).status).toBe(204);
    const token = await service.token(email);
    const operator = await OfficeBrowser.enrol(service, "ann");
    const { url } = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
    const link = url.slice(service.url.length);
    await service.adminJson("invite", invited);
    const waiting = async () =>
      (await stage.query("SELECT attempts, sealed FROM sign_in_mails")) as {
        attempts: number;
        sealed: string;
      }[];
    await eventually(async () => expect(await waiting()).toHaveLength(1));
    const app = await makeApp(service);
    const { address, redeem } = await app.ask();
    let tokens = await redeem(new URL(await answerApp(owner, service, address.href)));
    for (const rotations of [1, 2, 3]) {
      const other = new Browser(service);
      const code = await requestCode(other);
      const challenge = await passkeys.ask(owner);
      const proof = JSON.parse((await operator.post("/proof/options")).text);
      const registration = { redirect_uris: ["http://127.0.0.1/back"], token_endpoint_auth_method: "none" };
      const registered = await service.ask("/oauth/register", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(registration),
      });
      const { client_id } = JSON.parse(registered.text);
      await service.stop();
      const [held] = await waiting();
      await stage.query(`UPDATE sign_in_mails SET next_attempt_at_ms = ${Date.now() + 60 * 60 * 1000}`);
      service = await start(rotations);

      expect((await other.submit("/sign-in/redeem", { code })).headers.location).toBe("/home");
      expect((await passkeys.sendAssertion(owner, authenticator.get(challenge))).status).toBe(200);
      expect((await owner.post("/sign-in/renew")).status).toBe(204);
      expect(await service.statusFor(token)).toBe(200);
      expect((await operator.post("/proof/passkey", operator.authenticator.get(proof))).status).toBe(200);
      expect((await operator.open("/today")).status).toBe(200);
      expect((await service.ask(link, { method: "POST" })).status).toBe(200);
      const [redirect_uri] = registration.redirect_uris;
      const asked = {
        client_id,
        redirect_uri: `${redirect_uri}`,
        response_type: "code",
        scope: "account:read",
      };
      const pkce = { code_challenge: "v".repeat(43), code_challenge_method: "S256" };
      const authorize = new URLSearchParams({ ...asked, ...pkce });
      expect((await owner.open(`/oauth/authorize?${authorize}`)).headers.location).toMatch(
        /\/connect\?request=[\w-]{12}$/,
      );
      tokens = await app.refresh(tokens.refresh_token);

      // What waits is sealed anew with its next attempt, and `check` says until when the previous secret is needed.
      const rest = "codes and registrations of apps of the last day";
      await eventually(async () =>
        expect(await service.check("secrets")).toMatchObject({
          level: "warning",
          detail: `only APP_SECRET_PREVIOUS opens: waiting mails (1), ${rest}`,
        }),
      );
      await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
      await eventually(async () => expect((await waiting())[0]?.sealed).not.toBe(held?.sealed));
      expect(await service.check("secrets")).toMatchObject({
        detail: `only APP_SECRET_PREVIOUS opens: ${rest}`,
      });
    }

    isHeld = false;
    await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
    await eventually(() => expect(subjectsTo(invited)).toHaveLength(1));
  });
});
