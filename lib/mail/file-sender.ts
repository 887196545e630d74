import { access, constants, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { MailSettings } from "@/lib/config/mail-settings";
import { SendError, type Sender, sendWithinMs } from "@/lib/mail/mail";
import { toMessage } from "@/lib/mail/message";
import { createFolder } from "@/lib/runtime/data-dir";

/**
 * Writes each mail to `DATA_DIR/mail/<id>.eml` (folder 0700, file 0600), where a mail program or a person can
 * open it. Handed over again, a mail replaces itself.
 */
export function createFileSender(
  { from }: MailSettings,
  replyTo: string | undefined,
  dataDir: string,
): Sender {
  const folder = join(dataDir, "mail");
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  return {
    withinMs: sendWithinMs,
    atOnce: 5,
    async send(mail) {
      const { message } = await composer.sendMail(toMessage(mail, from, replyTo));
      const file = join(folder, `${mail.id}.eml`);
      try {
        createFolder(folder);
        await writeFile(`${file}.draft`, message, { mode: 0o600 });
        await rename(`${file}.draft`, file);
      } catch (failure) {
        throw new SendError(`files: ${(failure as NodeJS.ErrnoException).code}`, { mayRetry: true });
      }
    },
    async check() {
      createFolder(folder);
      await access(folder, constants.W_OK);
      return `written to ${folder} as .eml files, and sent to nobody`;
    },
  };
}

/** Deletes the files of mails by whom they are to, in lower case, and when they were written. */
export function eraseMailFilesTo(
  dataDir: string,
  isToGo: (email: string, writtenAtMs: number) => boolean,
): Promise<void> {
  return eraseFiles(dataDir, async (file) => {
    const message = await readFile(file, "utf8");
    const { mtimeMs } = await stat(file);
    const [, to = ""] = /^To: (.*(?:\r?\n[ \t].*)*)/im.exec(message) ?? [];
    const emails = to.match(/[^\s<>,"]+@[^\s<>,"]+/g) ?? [];
    return emails.some((email) => isToGo(email.toLowerCase(), mtimeMs));
  });
}

/** Deletes the files of the mails that were written before an instant. */
export function eraseOldMailFiles(dataDir: string, beforeMs: number): Promise<void> {
  return eraseFiles(dataDir, async (file) => (await stat(file)).mtimeMs < beforeMs);
}

async function eraseFiles(dataDir: string, isToGo: (file: string) => Promise<boolean>): Promise<void> {
  const folder = join(dataDir, "mail");
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    try {
      if (await isToGo(file)) await rm(file, { force: true });
    } catch (failure) {
      // Gone since the folder was read: a draft has become a mail, or another process was first.
      if ((failure as NodeJS.ErrnoException).code !== "ENOENT") throw failure;
    }
  }
}
