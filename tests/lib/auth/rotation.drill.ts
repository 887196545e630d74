import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enqueueMail } from "@/lib/mail/outbox";
import { Authenticator } from "@/tests/support/authenticator";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { openidClient } from "@/tests/support/oauth-libraries";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { operate } from "@/tests/support/operator";
import { answerApp } from "@/tests/support/owner";
import * as passkeys from "@/tests/support/passkeys";
import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

const secrets = [besideDatabaseUrl.APP_SECRET, ..."123".split("").map((digit) => digit.repeat(40))];

/** What `check` says about secrets. */
async function checkSecrets(service: Service) {
  const { stdout } = await service.admin("--json", "check");
  return JSON.parse(stdout).find(({ what }: { what: string }) => what === "secrets");
}

describe.each(engines)("an APP_SECRET that changes three times, on $name", (engine) => {
  let stage: Stage;
  let inbox: Awaited<ReturnType<typeof startSmtpInbox>>;
  let world: Environment;
  let service: Service;

  const email = "ceo@example.com";
  const invited = "invited@example.com";
  /** Whether the mail server refuses mail to the invited person for now. */
  let isHeld = true;

  beforeAll(async () => {
    stage = await engine.prepare();
    inbox = await startSmtpInbox({
      onRcptTo: ({ address }, _, callback) =>
        callback(
          isHeld && address === invited ? Object.assign(new Error("later"), { responseCode: 451 }) : null,
        ),
    });
    const [port, officePort] = [await reservePort(), await reservePort()];
    world = {
      DATA_DIR: createFolder(),
      ...stage.environment,
      PORT: String(port),
      APP_URL: `http://localhost:${port}`,
      OFFICE_PORT: String(officePort),
      EMAIL_FROM: "office@example.com",
      SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
    };
    service = await start(0);
  });
  afterAll(async () => {
    await service.stop();
    await inbox.stop();
    await stage.clear();
  });

  /** Starts the service after this many rotations. */
  const start = (rotations: number) =>
    Service.start({
      ...world,
      APP_SECRET: secrets[rotations] ?? "",
      ...(rotations > 0 && { APP_SECRET_PREVIOUS: secrets[rotations - 1] ?? "" }),
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
    expect(await waiting()).toHaveLength(1);
    const app = await openidClient.makeApp(service);
    const { address, redeem } = await app.ask();
    let tokens = await redeem(new URL(await answerApp(owner, service, address.href)));
    const file = join(createFolder(), "office.backup");
    const BACKUP_PASSPHRASE = "correct horse battery staple";
    const backUp = (name: string) => operate(["backup", name], { ...service.environment, BACKUP_PASSPHRASE });
    expect(await backUp(file)).toMatchObject({ code: 0 });

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
      const headers = { authorization: `Bearer ${token}` };
      expect((await service.ask("/api/entitlement", { headers })).status).toBe(200);
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
      expect((await owner.open(`/oauth/authorize?${authorize}`)).headers.location).toBe("/connect");
      tokens = await app.refresh(tokens.refresh_token);

      // What waits is sealed anew with its next attempt, and `check` says until when the previous secret is needed.
      const rest = "codes and registrations of apps of the last day";
      await eventually(async () =>
        expect(await checkSecrets(service)).toMatchObject({
          level: "warning",
          detail: `only APP_SECRET_PREVIOUS opens: waiting mails (1), ${rest}`,
        }),
      );
      await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
      await eventually(async () => expect((await waiting())[0]?.sealed).not.toBe(held?.sealed));
      expect(await checkSecrets(service)).toMatchObject({
        detail: `only APP_SECRET_PREVIOUS opens: ${rest}`,
      });
    }

    isHeld = false;
    await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
    await eventually(() => expect(subjectsTo(invited)).toHaveLength(1));

    // A backup of any day has the secret of that day.
    const later = `${file}-later`;
    expect(await backUp(later)).toMatchObject({ code: 0 });
    for (const [backup, APP_SECRET = ""] of [
      [file, secrets[0]],
      [later, secrets[3]],
    ] as const) {
      const empty = await engine.prepare({ isEmpty: true });
      const environment = {
        ...world,
        DATA_DIR: join(createFolder(), "data"),
        ...empty.environment,
        APP_URL: service.url,
        APP_SECRET,
        BACKUP_PASSPHRASE,
      };
      expect(await operate(["restore", backup], environment)).toMatchObject({ code: 0, stderr: "" });
      const restored = await operate(["--json", "emails", "unsubscribe-link", email], environment);
      expect(JSON.parse(restored.stdout)).toEqual({ url });
      expect(JSON.parse((await operate(["--json", "keys", "list"], environment)).stdout)).toMatchObject([
        { state: "signs" },
      ]);
      await empty.clear();
    }
  });
});

describe.each(engines)("a process with another APP_SECRET, on $name", (engine) => {
  const email = "ceo@example.com";
  let stage: Stage;
  let right: Service;
  let wrong: Service;

  beforeAll(async () => {
    stage = await engine.prepare();
    const [APP_SECRET, other] = secrets as [string, string];
    const DATA_DIR = createFolder();
    right = await Service.make({ DATA_DIR, ...stage.environment, APP_SECRET });
    await right.adminJson("account", "add", email, "--plan", "licensed");
    wrong = await Service.make({ DATA_DIR, ...stage.environment, APP_SECRET: other });
  });
  afterAll(async () => {
    await right.stop();
    await wrong.stop();
    await stage.clear();
  });

  it("claims no mail, says so, and signs no one in: 503", async () => {
    await right.run();
    const owner = await Browser.signIn(right, email);
    const authenticator = new Authenticator(right.url);
    expect((await passkeys.add(owner, authenticator)).status).toBe(204);
    await eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    await right.stop();
    const db = await stage.open();
    process.env.APP_SECRET = secrets[0];
    const mail = { kind: "new app", to: email, name: "Desk", atMs: Date.now() } as const;
    await enqueueMail(db, mail, { nowMs: Date.now(), untilMs: Date.now() + 60_000 });
    const waiting = () => stage.query("SELECT * FROM sign_in_mails");
    const before = await waiting();

    const sent = await wrong.admin("emails", "send-due");
    expect(sent).toMatchObject({ code: 1, stdout: "" });
    expect(sent.stderr).toMatch(
      /^unavailable: The keys in the store were encrypted with another APP_SECRET than this process has\. /,
    );
    expect((await wrong.admin("invite", "new@example.com")).code).toBe(1);
    expect(await stage.query("SELECT id FROM invitations WHERE accepted_at_ms IS NULL")).toEqual([]);
    const { level, detail } = await checkSecrets(wrong);
    expect([level, detail]).toEqual([
      "fault",
      expect.stringMatching(/^encrypted with another APP_SECRET: .*waiting mails \(1\)/),
    ]);
    expect(await wrong.adminJson("overview")).toMatchObject({ mailsNotOpened: 1 });

    await wrong.run();
    const browser = new Browser(wrong);
    const assertion = authenticator.get(await passkeys.ask(browser), { origin: wrong.url });
    expect((await passkeys.sendAssertion(browser, assertion)).status).toBe(503);
    expect((await browser.submit("/sign-in/send", { email })).headers.location).toMatch(
      /problem=unavailable$/,
    );
    expect((await wrong.ask("/ready")).status).toBe(503);
    await eventually(() => expect(wrong.log).toContain("the outbox could not be read"));
    expect(await waiting()).toEqual(before);
    await wrong.stop({ expectErrors: true });

    await right.run();
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(await checkSecrets(right)).toMatchObject({ level: "fine" });
  });
});
