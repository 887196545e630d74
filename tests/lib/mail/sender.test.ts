import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parseSettings } from "@/lib/config/settings";
import { type Mail, type SendError, trySending } from "@/lib/mail/mail";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { createFileSender, eraseMailFiles } from "@/lib/mail/senders/file-sender";
import { createResendSender } from "@/lib/mail/senders/resend-sender";
import { createSmtpSender } from "@/lib/mail/senders/smtp-sender";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { certificate } from "@/tests/support/certificate";
import { dkimKey, verifyDkim } from "@/tests/support/dkim";
import { createFolder } from "@/tests/support/leash";
import { startResendStandIn } from "@/tests/support/resend-stand-in";
import type { Environment } from "@/tests/support/service";
import { startRelay, startSmtpInbox } from "@/tests/support/smtp-inbox";

const link = `https://office.example.com/api/email/unsubscribe?token=v1.acc_${"x".repeat(22)}.${"y".repeat(43)}`;
const mail: Mail = {
  id: "5f0c3f0e-6f4b-4f0e-9f55-0d2f6f0a7c11",
  from: { name: "Corner Office", address: "office@example.com" },
  to: "ceo@example.org",
  replyTo: "help@example.com",
  subject: "Grüße — hello",
  text: "A line.\n\nÜber uns. A long line: ".padEnd(1200, "x y "),
  html: "<p>A line. Über uns.</p>",
  headers: { "List-Unsubscribe": `<${link}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
};
const folder = createFolder();

/** Parses a mail with a library other than the sender's. */
async function read(raw: Buffer | string) {
  const { headers, from, to, replyTo, subject, text, html } = await PostalMime.parse(raw);
  const field = (name: string) => headers.filter(({ key }) => key === name).map(({ value }) => value);
  return { from, to, replyTo, subject, text, html, field };
}

async function expectTheMail(raw: Buffer | string) {
  const { from, to, replyTo, subject, text, html, field } = await read(raw);
  expect(from).toMatchObject({ name: "Corner Office", address: "office@example.com" });
  expect(to).toMatchObject([{ address: "ceo@example.org" }]);
  expect(replyTo).toMatchObject([{ address: "help@example.com" }]);
  expect(subject).toBe(mail.subject);
  expect(text?.trim()).toBe(mail.text.trim());
  expect(html?.trim()).toBe(mail.html);
  expect(field("message-id")).toEqual([`<${mail.id}@example.com>`]);
  expect(field("list-unsubscribe")).toEqual([`<${link}>`]);
  expect(field("list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
  expect(field("date")).toHaveLength(1);
  expect(Math.abs(Date.parse(field("date")[0] ?? "") - Date.now())).toBeLessThan(60_000);
  const longestLine = Math.max(
    ...raw
      .toString("latin1")
      .split("\r\n")
      .map((line) => line.length),
  );
  expect(longestLine, "RFC 5322 §2.1.1").toBeLessThanOrEqual(998);
  expect(raw.toString("latin1"), "no bare line feed").not.toMatch(/[^\r]\n/);
}

const failureOf = (sent: Promise<void>) =>
  sent.then(
    () => expect.fail("it was accepted"),
    ({ message, mayRetry, mayArrive, pauseMs }: SendError) => ({ message, mayRetry, mayArrive, pauseMs }),
  );

describe("files", () => {
  const files = createFileSender(folder, true);

  it("writes each mail to one file that only its owner can read", async () => {
    await files.send(mail);
    await files.send(mail);
    expect(readdirSync(join(folder, "mail"))).toEqual([`${mail.id}.eml`]);
    const file = join(folder, "mail", `${mail.id}.eml`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "mail")).mode & 0o777).toBe(0o700);
    await expectTheMail(readFileSync(file));
    expect(await files.check()).toContain(join(folder, "mail"));
  });

  it("deletes the matching files, and continues if one has disappeared", async () => {
    await files.send(mail);
    // A dangling link stands for a draft that was renamed after the folder was read.
    symlinkSync("nothing", join(folder, "mail", "0.eml.draft"));
    const now = Date.now() + 1000;
    await eraseMailFiles(folder, new Map([[hashEmail("somebody@example.org"), now]]));
    await eraseMailFiles(folder, new Map([[hashEmail(mail.to), now - 60_000]]), Date.now() - 60_000);
    expect(readdirSync(join(folder, "mail"))).toContain(`${mail.id}.eml`);
    await eraseMailFiles(folder, new Map([[hashEmail(mail.to), now]]));
    expect(readdirSync(join(folder, "mail"))).toEqual(["0.eml.draft"]);
  });

  it("deletes those to an address that stands in quotes", async () => {
    const to = "a..b@docomo.ne.jp";
    await files.send({ ...mail, to });
    expect(readFileSync(join(folder, "mail", `${mail.id}.eml`), "utf8")).toContain(
      '\r\nTo: <"a..b"@docomo.ne.jp>\r\n',
    );
    await eraseMailFiles(folder, new Map([[hashEmail(to), Date.now() + 1000]]));
    expect(readdirSync(join(folder, "mail"))).not.toContain(`${mail.id}.eml`);
  });

  it("allows a retry if the folder cannot be written", async () => {
    const nowhere = createFileSender("/dev/null", false);
    expect(await failureOf(nowhere.send(mail))).toMatchObject({ message: "files: ENOTDIR", mayRetry: true });
  });

  it("makes no data folder that has gone with the store", async () => {
    const gone = join(folder, "gone");
    const failure = await failureOf(createFileSender(gone, true).send(mail));
    expect(failure).toMatchObject({ message: "files: ENOENT", mayRetry: true });
    await createFileSender(gone, false).send(mail);
    expect(readdirSync(join(gone, "mail"))).toEqual([`${mail.id}.eml`]);
  });
});

describe("SMTP", async () => {
  const inbox = await startSmtpInbox();
  afterEach(() => {
    inbox.fault = "none";
    inbox.received.length = 0;
  });
  afterAll(() => inbox.stop());

  const dkim = { DKIM_DOMAIN: "example.com", DKIM_SELECTOR: "mail", DKIM_PRIVATE_KEY: dkimKey };

  function smtp(url: string, environment: Environment = {}) {
    const world = { APP_URL: "https://office.example.com", EMAIL_FROM: "Corner Office <office@example.com>" };
    const settings = parseSettings({ ...world, SMTP_URL: url, ...environment }).mail;
    if (settings.kind !== "smtp") throw new Error("unreachable");
    return createSmtpSender(settings, 1000);
  }
  const plain = (environment: Environment = {}) => smtp(`smtp://127.0.0.1:${inbox.port}`, environment);

  it("delivers a mail that a strict parser reads back unchanged", async () => {
    await plain().send(mail);
    expect(inbox.received).toMatchObject([{ from: "office@example.com", to: "ceo@example.org" }]);
    await expectTheMail(inbox.received[0]?.raw ?? "");
    expect(await plain().check()).toBe(
      "the SMTP server takes our greeting as office.example.com; it has to sign with DKIM, because no DKIM key is set here",
    );
  });

  it.each([
    ["a..b@docomo.ne.jp", '"a..b"@docomo.ne.jp'],
    ["a.@ezweb.ne.jp", '"a."@ezweb.ne.jp'],
    ["o'brien/sales&co@example.com", "o'brien/sales&co@example.com"],
    ["=?utf-8?q?x=40evil.example=3e?=@example.com", '"=?utf-8?q?x=40evil.example=3e?="@example.com'],
  ])("writes to %s as RFC 5321 has it", async (to, inMail) => {
    await plain().send({ ...mail, to });
    expect(inbox.received).toMatchObject([{ to: inMail }]);
    const header = inMail === to ? to : `<${inMail}>`;
    expect(String(inbox.received[0]?.raw)).toContain(`\r\nTo: ${header}\r\n`);
  });

  it("signs with DKIM what it sends: `dkim.test.ts` says what that covers", async () => {
    await plain(dkim).send(mail);
    const raw = inbox.received[0]?.raw.toString("latin1") ?? "";
    expect(raw).toMatch(/^DKIM-Signature: /m);
    expect(await verifyDkim(raw)).toBe("pass");
  });

  it("sends nothing to a server whose certificate is not trusted", async () => {
    const { key, cert } = certificate();
    const strict = await startSmtpInbox({ key, cert });
    const startTls = await failureOf(smtp(`smtp://localhost:${strict.port}`).send(mail));
    expect(startTls).toMatchObject({ message: "smtp: ESOCKET CONN", mayRetry: true });
    const implicit = await startSmtpInbox({ key, cert, secure: true });
    const refused = await failureOf(smtp(`smtps://localhost:${implicit.port}`).send(mail));
    expect(refused).toMatchObject({ message: "smtp: ESOCKET CONN", mayRetry: true });
    expect([...strict.received, ...implicit.received]).toEqual([]);
    await Promise.all([strict.stop(), implicit.stop()]);
  });

  it("sends nothing to a remote server without TLS", async () => {
    // The loopback server under an address that is not recognised as loopback.
    const failure = await failureOf(smtp(`smtp://me:pw@[::ffff:127.0.0.1]:${inbox.port}`).send(mail));
    expect(failure).toMatchObject({ message: "smtp: 500 STARTTLS", mayRetry: true });
    expect(inbox.received).toEqual([]);
  });

  it("allows a retry, except after a permanent refusal of the recipient, which is no outage", async () => {
    for (const [fault, message, mayRetry, pauseMs, isAway] of [
      ["no such recipient", "smtp: 550 5.1.1 RCPT TO", false, 0, false],
      ["busy", "smtp: 451 4.3.2 DATA", true, 0, true],
      ["closing", "smtp: 421 4.3.2 MAIL FROM", true, 1000, false],
      ["sender refused", "smtp: 550 5.7.1 MAIL FROM", true, 0, true],
      ["lost", "smtp: ECONNECTION CONN", true, 0, true],
    ] as const) {
      inbox.fault = fault;
      expect(await trySending(plain(), () => mail)).toMatchObject({ message, mayRetry, pauseMs });
      expect(outageSince("mail") !== undefined, fault).toBe(isAway);
    }
    const unreachable = smtp("smtp://127.0.0.1:9");
    const failure = { message: "smtp: ESOCKET CONN", mayRetry: true };
    expect(await failureOf(unreachable.send(mail))).toMatchObject(failure);
    await expect(unreachable.check()).rejects.toThrow("ECONNREFUSED");
  });

  it("greets with the host of APP_URL, else with the domain of the sender, unless a setting names another", async () => {
    await plain().send(mail);
    await plain({ APP_URL: "http://localhost:3000" }).send(mail);
    await plain({ APP_URL: "https://203.0.113.5" }).send(mail);
    await plain({ APP_URL: "https://office.internal" }).send(mail);
    await plain({ SMTP_HELO: "mx.example.net" }).send(mail);
    await plain({ SMTP_HELO: "[203.0.113.5]" }).send(mail);
    expect(inbox.received.map(({ helo }) => helo)).toEqual([
      "office.example.com",
      "example.com",
      "example.com",
      "example.com",
      "mx.example.net",
      "[203.0.113.5]",
    ]);
    expect(() => plain({ SMTP_HELO: "mx example" })).toThrow(
      "SMTP_HELO: must be a host name like office.example.com, or an address like [203.0.113.5]",
    );
  });

  it("tries every 4xx again, wherever it comes, and what is about our name, and `check` shows the greeting and what the relay said", async () => {
    const tarpit =
      "421-4.7.0 Try again later, closing connection. (EHLO)\r\n421 4.7.0 For more, see the help.";
    for (const [at, reply, message, pauseMs, isOfRecipient = false] of [
      ["", "421 4.3.2 too many connections", "smtp: 421 4.3.2 CONN", 1000],
      ["", "450 4.7.0 wait", "smtp: 450 4.7.0 CONN", 1000],
      ["EHLO", tarpit, "smtp: 421 4.7.0 EHLO", 0],
      ["MAIL", "421 4.3.2 closing", "smtp: 421 4.3.2 MAIL FROM", 1000],
      ["MAIL", "452 4.3.1 no space", "smtp: 452 4.3.1 MAIL FROM", 0],
      ["RCPT", "450 4.2.0 greylisted", "smtp: 450 4.2.0 RCPT TO", 0, true],
      [
        "RCPT",
        "450 4.1.2 <x@no.example>: Recipient address rejected: Domain not found",
        "smtp: 450 4.1.2 RCPT TO",
        0,
        true,
      ],
      ["RCPT", "451 4.3.5 Server configuration problem", "smtp: 451 4.3.5 RCPT TO", 0],
      [
        "RCPT",
        "450 4.1.8 <office@example.com>: Sender address rejected: Domain not found",
        "smtp: 450 4.1.8 RCPT TO",
        0,
      ],
      ["RCPT", "421 4.7.28 rate", "smtp: 421 4.7.28 RCPT TO", 1000],
      ["RCPT", "450 4.7.1 <office>: Helo command rejected: Host not found", "smtp: 450 4.7.1 RCPT TO", 0],
      [
        "RCPT",
        "504 5.5.2 <office>: Helo command rejected: need fully-qualified hostname",
        "smtp: 504 5.5.2 RCPT TO",
        0,
      ],
      ["DATA", "451 4.3.0 later", "smtp: 451 4.3.0 DATA", 0],
      [".", "451 4.4.2 timeout", "smtp: 451 4.4.2 DATA", 0],
    ] as const) {
      const relay = await startRelay({ [at]: reply });
      const sender = smtp(`smtp://127.0.0.1:${relay.port}`);
      const refused = { message, mayRetry: true, mayArrive: false, pauseMs };
      expect(await failureOf(sender.send(mail)), reply).toEqual(refused);
      expect(relay.connections, "one attempt is one connection").toBe(1);
      await trySending(sender, () => mail);
      const isBusy = pauseMs > 0;
      expect(outageSince("mail") !== undefined, `an outage: ${reply}`).toBe(!isBusy && !isOfRecipient);
      if (at === "EHLO")
        await expect(sender.check()).rejects.toThrow(
          "to our greeting as office.example.com: it said to EHLO: 421-4.7.0 Try again later, closing connection. (EHLO) 421 4.7.0 For more, see the help.",
        );
      relay.stop();
    }
  });

  it.each([
    // SES' sandbox (GoogleCloudPlatform/cloud-build-notifiers#87) and its rate (knadh/listmonk#2273).
    [".", "554 Message rejected: Email address is not verified.", true, 0],
    [".", "454 Throttling failure: Maximum sending rate exceeded.", true, 1000],
    // Office 365's connections at once.
    ["MAIL", "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded", true, 1000],
    // Gmail's quota of the day (PHPMailer/PHPMailer#2113) and a provider's (WWBN/AVideo#7527).
    [".", "550-5.4.5 Daily user sending limit exceeded.\r\n550 5.4.5 https://support.google.com", true, 0],
    [".", "552 Message would take you over your relay quota of 500", true, 0],
    // A sender that is not verified at SendGrid (chatwoot/chatwoot#2541) or not theirs at Office 365 (FusionAuth/fusionauth-issues#220).
    [".", "550 The from address does not match a verified Sender Identity.", true, 0],
    [".", "554 5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied", true, 0],
    ["RCPT", "553 5.7.1 <office@example.com>: Sender address rejected: not owned by user", true, 0],
    // Mailtrap's rate is a 550 (izmjs/izmjs#26).
    [".", "550 5.7.0 Requested action not taken: too many emails per second", true, 1000],
    // Exim and Postfix without our password.
    ["RCPT", "550 relay not permitted, authentication required", true, 0],
    // What we may send is used up (nodemailer/nodemailer#1555 and #1137, gophish/gophish#3231, ChangemakerStudios/Papercut-SMTP#199).
    [
      "RCPT",
      "550-Requested action not taken: mailbox unavailable\r\n550 Failure sending mail. Try again later.",
      true,
      0,
    ],
    ["RCPT", "550 User office@example.com has exceeded its 24-hour sending limit.", true, 0],
    ["RCPT", "550 send spam mail rejected: exceeded hour limit", true, 0],
    ["RCPT", "550 User has exceeded outgoing email quota", true, 0],
    ["RCPT", "550 example.com has exceeded the max emails per hour (500/500) allowed.", true, 0],
    ["RCPT", "554 5.1.8 Email Outgoing Blocked", true, 0],
    // Where our own address is not known (nodemailer/nodemailer#697, docker-mailserver/docker-mailserver#2257).
    [
      "RCPT",
      "550 5.1.0 <office@example.com>: Sender address rejected: User unknown in virtual mailbox table",
      true,
      0,
    ],
    ["RCPT", "550-Verification failed for <office@example.com>\r\n550 Sender verify failed", true, 0],
    ["RCPT", "554 5.7.1 <founder@example.com>: Relay access denied", true, 0],
    // About the recipient or the mail.
    ["RCPT", "550 No such user here", false, 0],
    ["RCPT", "550 5.4.1 Recipient address rejected: Access denied", false, 0],
    ["RCPT", "552 5.2.2 The email account that you tried to reach is over quota.", false, 0],
    [".", "550 5.1.1 The email account that you tried to reach does not exist.", false, 0],
    [".", "552 5.3.4 Message size exceeds fixed limit", false, 0],
  ] as const)("at %j takes %j for what it is about", async (at, reply, mayRetry, pauseMs) => {
    const relay = await startRelay({ [at]: reply });
    const failure = await failureOf(smtp(`smtp://127.0.0.1:${relay.port}`).send(mail));
    expect(failure).toMatchObject({ mayRetry, pauseMs });
    relay.stop();
  });

  it("gives up after its timeout", async () => {
    inbox.fault = "silent";
    const startedAtMs = Date.now();
    expect(await failureOf(plain().send(mail))).toMatchObject({ message: "smtp: no answer", mayRetry: true });
    expect(Date.now() - startedAtMs).toBeLessThan(2000);
  });
});

describe("Resend", async () => {
  const stand = await startResendStandIn();
  afterEach(() => {
    stand.fault = "none";
    stand.accepted.length = 0;
  });
  afterAll(() => stand.stop());

  function resend(environment: Environment = {}) {
    const APP_URL = "https://office.example.com";
    const settings = parseSettings({ APP_URL, ...stand.environment, ...environment }).mail;
    if (settings.kind !== "resend") throw new Error("unreachable");
    return createResendSender(settings, 1000);
  }

  it("sends the id as the idempotency key, so that a repeated mail is sent once", async () => {
    await resend().send(mail);
    await resend().send(mail);
    const { to, subject, text, html, headers } = mail;
    expect(stand.accepted).toEqual([
      {
        atMs: expect.any(Number),
        key: mail.id,
        body: {
          from: '"Corner Office" <office@example.com>',
          to,
          subject,
          text,
          html,
          headers,
          reply_to: "help@example.com",
        },
      },
    ]);
  });

  it("sends once if the response to the first attempt is lost", async () => {
    stand.fault = "lost";
    const lost = { ...mail, id: "11111111-6f4b-4f0e-9f55-0d2f6f0a7c11" };
    expect(await failureOf(resend().send(lost))).toMatchObject({
      message: "resend: no answer",
      mayRetry: true,
    });
    stand.fault = "none";
    await resend().send(lost);
    expect(stand.accepted).toHaveLength(1);
    const other = failureOf(resend().send({ ...lost, subject: "Other words" }));
    expect(await other).toMatchObject({ message: "resend: 409 invalid_idempotent_request", mayRetry: false });
  });

  it("distinguishes temporary failures, permanent failures and requests to wait", async () => {
    const unknown = { mayRetry: true, mayArrive: true, pauseMs: 0 };
    const refused = { mayRetry: false, mayArrive: false, pauseMs: 0 };
    const faults = [
      ["500", "resend: 500 internal_server_error", unknown],
      ["html", "resend: 502 application_error", unknown],
      ["reset", "resend: no answer", unknown],
      ["403", "resend: 403 invalid_api_key", { ...refused, mayRetry: true }],
      ["400", "resend: 400 validation_error", refused],
      ["concurrent", "resend: 409 concurrent_idempotent_requests", unknown],
      ["422", "resend: 422 validation_error", refused],
      ["422 from", "resend: 422 validation_error", { ...refused, mayRetry: true }],
      ["451", "resend: 451 security_error", refused],
      ["429", "resend: 429 rate_limit_exceeded", { ...refused, mayRetry: true, pauseMs: 7000 }],
    ] as const;
    stand.retryAfterSeconds = 7;
    for (const [fault, message, options] of faults) {
      stand.fault = fault;
      expect(await failureOf(resend().send(mail))).toEqual({ message, ...options });
    }
    expect(stand.accepted).toEqual([]);
  });

  it("gives up after its timeout", async () => {
    stand.fault = "silent";
    const startedAtMs = Date.now();
    expect(await failureOf(resend().send(mail))).toMatchObject({
      message: "resend: no answer",
      mayRetry: true,
    });
    expect(Date.now() - startedAtMs).toBeLessThan(2000);
  });

  it("writes to addresses with odd dots in quotes", async () => {
    await resend().send({ ...mail, id: "5f0c3f0e-6f4b-4f0e-9f55-0d2f6f0a7c12", to: "a..b@docomo.ne.jp" });
    expect(stand.accepted).toMatchObject([{ body: { to: '"a..b"@docomo.ne.jp' } }]);
  });

  it("is checked without sending a mail, with a key that may only send", async () => {
    expect(await resend().check()).toBe("Resend answers");
    await expect(resend({ RESEND_API_KEY: "re_other" }).check()).rejects.toThrow(
      "resend: 403 invalid_api_key",
    );
    expect(stand.accepted).toEqual([]);
  });
});
