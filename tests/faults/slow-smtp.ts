import { setTimeout as sleep } from "node:timers/promises";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { writeDueMails } from "@/tests/support/due-mails";
import { createFolder } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import type { Experiment } from "./experiment";

const answerAfterMs = 50;
const windowMs = 8000;

/** A mail server that is slow at every command, and one that never responds for one recipient in ten. */
export const slowSmtp: Experiment = {
  name: "slow-smtp",
  async run(see) {
    for (const hangs of [false, true]) {
      const after = (callback: (error?: null) => void) => setTimeout(callback, answerAfterMs);
      const received = new Set<string>();
      let connections = 0;
      const inbox = await startSmtpInbox({
        disabledCommands: ["STARTTLS"],
        onConnect(_, callback) {
          connections++;
          after(callback);
        },
        onMailFrom: (_, __, callback) => void after(callback),
        onRcptTo({ address }, _, callback) {
          if (!hangs || !/0@/.test(address)) after(callback);
        },
        onData(stream, session, callback) {
          stream.resume().on("end", () => {
            received.add(session.envelope.rcptTo[0]?.address ?? "");
            after(callback);
          });
        },
      });
      const dataDir = createFolder();
      const SMTP_URL = `smtp://127.0.0.1:${inbox.port}`;
      const mail = { ...besideDatabaseUrl, EMAIL_FROM: "office@example.com", SMTP_URL };
      const service = await Service.start({ ...mail, DATA_DIR: dataDir }, { logTo: "file" });
      await service.adminJson("account", "list");
      await writeDueMails({ dataDir }, { from: 0, to: 5000 });
      while (received.size === 0) await sleep(5);
      await sleep(windowMs);
      const perSecond = received.size / (windowMs / 1000);
      see({
        what: `${answerAfterMs} ms a command${hangs ? ", one recipient in ten hanging" : ""}`,
        figure: `${perSecond.toFixed(0)} mails/s over ${connections} connections (${hangs ? 12 : 160} or more)`,
        holds: perSecond >= (hangs ? 12 : 160),
      });
      await service.kill();
      await inbox.stop();
    }
  },
};
