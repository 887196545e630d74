import { existsSync } from "node:fs";
import { access, constants, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEmailAddress } from "@/lib/config/email-address";
import { SendError, type Sender, toMessage } from "@/lib/mail/mail";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { createFolder, removeLeft } from "@/lib/runtime/data-dir";

/**
 * Writes each mail to `DATA_DIR/mail/<id>.eml` (folder 0700, file 0600). A retry replaces the file.
 *
 * @param hasStore - whether the store is in the data folder, too: then only the store makes that. Once it has gone, it may come
 *   back with all that is in it
 */
export function createFileSender(dataDir: string, hasStore: boolean): Sender {
  const folder = join(dataDir, "mail");
  const makeFolder = () => {
    if (!hasStore || existsSync(dataDir)) createFolder(folder);
  };
  const composer = import("nodemailer").then(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: "windows" }),
  );
  return {
    maxConcurrent: 5,
    async send(mail) {
      const { message } = await (await composer).sendMail(toMessage(mail));
      const file = join(folder, `${mail.id}.eml`);
      try {
        makeFolder();
        await writeFile(`${file}.draft`, message, { mode: 0o600 });
        await rename(`${file}.draft`, file);
      } catch (failure) {
        throw new SendError(`files: ${(failure as NodeJS.ErrnoException).code}`, { mayRetry: true });
      }
    },
    async check() {
      makeFolder();
      await access(folder, constants.W_OK);
      return `written to ${folder} as .eml files, not delivered`;
    },
  };
}

/** Removes the mails that killed processes were writing. One that another process writes is written again. */
export function sweepMailDrafts(dataDir: string): void {
  removeLeft(join(dataDir, "mail"), (name) => name.endsWith(".draft"));
}

/**
 * Deletes the mail files written before `beforeMs` (Unix milliseconds), and those to erased people, by the hash of the
 * address, that were written before the erasure. Each instance has its own files, which the operator's command cannot
 * reach, so each one reads from the store who was erased.
 */
export async function eraseMailFiles(
  dataDir: string,
  erased: Map<string, number>,
  beforeMs = 0,
): Promise<void> {
  const folder = join(dataDir, "mail");
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    try {
      const emails = erased.size > 0 ? recipientsIn(await readFile(file, "utf8")) : [];
      const { mtimeMs } = await stat(file);
      const isErased = (email: string) =>
        mtimeMs <= (erased.get(hashEmail(email)) ?? Number.NEGATIVE_INFINITY);
      if (mtimeMs < beforeMs || emails.some(isErased)) await rm(file, { force: true });
    } catch (failure) {
      // The file is gone: a draft was renamed, or another process deleted it first.
      if ((failure as NodeJS.ErrnoException).code !== "ENOENT") throw failure;
    }
  }
}

function recipientsIn(message: string): string[] {
  const [, to = ""] = /^To: (.*(?:\r?\n[ \t].*)*)/im.exec(message) ?? [];
  return (to.match(/[^\s<>,]+@[^\s<>,]+/g) ?? []).flatMap((email) => parseEmailAddress(email) ?? []);
}
