import { eventually } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import type { Experiment } from "./experiment";

/** A mail server that accepts a mail from an unknown sender only on the second attempt (RFC 6647). */
export const greylisting: Experiment = {
  name: "greylisting",
  async run(see) {
    const inbox = await startSmtpInbox();
    const SMTP_URL = `smtp://127.0.0.1:${inbox.port}`;
    const service = await Service.start({
      SIGN_IN: "local",
      EMAIL_FROM: "office@example.com",
      SMTP_URL,
      APP_URL: "http://localhost:3000",
    });
    await service.adminJson("account", "add", "ceo@example.com");
    await eventually(() => {
      if (inbox.received.length === 0) throw new Error("the onboarding mail did not come");
    });
    inbox.fault = "busy";
    const askedAtMs = Date.now();
    await service.submit("/sign-in/send", { email: "ceo@example.com" });
    await eventually(() => {
      if (!service.log.includes("a mail was not sent yet")) throw new Error("the code met no 451");
    });
    inbox.fault = "none";
    await eventually(() => {
      if (inbox.received.length === 1) throw new Error("the code was not tried again");
    });
    const tookMs = (inbox.received[1]?.atMs ?? Number.NaN) - askedAtMs;
    await service.stop();
    await inbox.stop();
    see({ what: "a code that met 451 arrives", figure: `after ${tookMs} ms`, holds: tookMs < 5000 });
  },
};
