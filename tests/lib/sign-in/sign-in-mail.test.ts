import { afterEach, describe, expect, it } from "vitest";
import { sendWithinMs } from "@/lib/mail/mail";
import { eventually } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

const email = "ceo@example.com";

describe("a sign-in code", () => {
  let inbox: Awaited<ReturnType<typeof startSmtpInbox>>;
  let service: Service;
  afterEach(async () => {
    await service.stop();
    await inbox.stop();
  });

  async function start() {
    inbox = await startSmtpInbox();
    const SMTP_URL = `smtp://127.0.0.1:${inbox.port}`;
    const environment = { SIGN_IN: "local", EMAIL_FROM: "office@example.com", SMTP_URL };
    service = await Service.start({ ...environment, APP_URL: "http://localhost:3000" });
    await service.adminJson("account", "add", email);
    // The onboarding mail takes its own way, and none of this is about it.
    await eventually(() => expect(inbox.received).toHaveLength(1));
    inbox.received.length = 0;
  }

  const askForCode = (to: string) => service.submit("/sign-in/send", { email: to });

  it("reaches a mailbox that takes no mail at the first attempt", async () => {
    await start();
    inbox.fault = "busy";
    expect((await askForCode(email)).headers.location).toBe("/sign-in/code");
    await eventually(() => expect(service.log).toContain("a sign-in mail was not sent yet"));
    expect(service.log).toContain('"kind":"code","attempts":1,"failure":"smtp: 451 DATA"');
    inbox.fault = "none";
    await eventually(() => expect(inbox.received.map(({ to }) => to)).toEqual([email]));
    expect(service.log).not.toContain(email);
  });

  it("keeps nobody waiting: by how long an answer takes, an account would show", async () => {
    await start();
    inbox.fault = "silent";
    const askedAtMs = performance.now();
    expect((await askForCode(email)).headers.location).toBe("/sign-in/code");
    expect(performance.now() - askedAtMs, "what a mail server may take").toBeLessThan(sendWithinMs / 2);
    inbox.fault = "none";
  });

  it("is sent although the process that made it was killed", async () => {
    await start();
    inbox.fault = "busy";
    await askForCode(email);
    await eventually(() => expect(service.log).toContain("a sign-in mail was not sent yet"));
    await service.kill();
    inbox.fault = "none";
    await service.run();
    await eventually(() => expect(inbox.received.map(({ to }) => to)).toEqual([email]));
  });

  it("goes to nobody without an account", async () => {
    await start();
    expect((await askForCode("stranger@example.com")).headers.location).toBe("/sign-in/code");
    await askForCode(email);
    await eventually(() => expect(inbox.received).toHaveLength(1));
    expect(inbox.received[0]?.to).toBe(email);
  });
});
