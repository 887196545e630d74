import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { answersWithinMs } from "@/lib/config/limits";
import { startService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

describe("a sign-in code", async () => {
  /** A new account for each test, and for each retry of a test. */
  const emails = Array.from({ length: 8 }, () => `ceo-${randomUUID()}@example.com`);
  let email: string;
  let begunAt: number;

  const inbox = await startSmtpInbox();
  afterAll(() => inbox.stop());
  const SMTP_URL = `smtp://127.0.0.1:${inbox.port}`;
  const environment = { SIGN_IN: "local", EMAIL_FROM: "office@example.com", SMTP_URL };
  const service = await startService({ ...environment, APP_URL: "http://localhost:3000" });
  for (const one of emails) await service.adminJson("account", "add", one);
  // Onboarding mails are sent separately, and these tests are not about them.
  await eventually(() => expect(inbox.received).toHaveLength(emails.length));
  beforeEach(() => {
    email = emails.pop() ?? "";
    inbox.fault = "none";
    inbox.received.length = 0;
    begunAt = service.log.length;
  });

  const mailsTo = (whom: string) => inbox.received.filter(({ to }) => to === whom).length;
  /** The log lines of the service since the test began. */
  const logged = () => service.log.slice(begunAt);
  const askForCode = (to: string) => service.submit("/sign-in/send", { email: to });

  it("is sent even if the process that made it was killed", async () => {
    inbox.fault = "busy";
    await askForCode(email);
    await eventually(() => expect(logged()).toContain("a mail was not sent yet"));
    await service.kill();
    inbox.fault = "none";
    await service.run();
    await eventually(() => expect(mailsTo(email)).toBe(1));
  });

  // The mail server hangs for longer than the other responses take.
  it("does not delay the response, because the delay would show whether there is an account", async () => {
    inbox.fault = "silent";
    const askedAtMs = performance.now();
    expect((await askForCode(email)).headers.location).toBe("/sign-in/code");
    expect(performance.now() - askedAtMs, "what a mail server may take").toBeLessThan(
      answersWithinMs.mail / 2,
    );
    inbox.fault = "none";
  });
});
