import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import PostalMime, { type Email } from "postal-mime";
import { expect } from "vitest";
import { eventually } from "@/tests/support/databases";
import type { Stage } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";

/** Waits for the newest mail to an email that a service without a sender wrote into its data folder. */
export async function mailTo(dataDir: string, email: string, subject: RegExp): Promise<Email> {
  let found: Email | undefined;
  await eventually(async () => {
    found = (await mailsTo(dataDir, email)).findLast((mail) => subject.test(mail.subject ?? ""));
    if (!found) throw new Error(`no mail to ${email}`);
  });
  return found as Email;
}

/** The mails that were read, by file: none changes once it has its name. */
const known = new Map<string, { atMs: number; mail: Promise<Email> }>();

function read(file: string) {
  const mail = known.get(file) ?? {
    atMs: statSync(file).mtimeMs,
    mail: PostalMime.parse(readFileSync(file)),
  };
  known.set(file, mail);
  return mail;
}

/**
 * Every mail to an email, oldest first. A service whose clock is two years ahead deletes each at once, for files have this
 * machine's time.
 */
export async function mailsTo(dataDir: string, email: string): Promise<Email[]> {
  const folder = join(dataDir, "mail");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".eml"))
    .map((name) => read(join(folder, name)))
    .sort((one, other) => one.atMs - other.atMs);
  const mails = await Promise.all(files.map(({ mail }) => mail));
  return mails.filter((mail) => mail.to?.some(({ address }) => address?.replaceAll('"', "") === email));
}

/** Sends every mail of an account's that is due by `nowMs`, and waits for those that a service's own runner has begun with. */
export async function sendDue(service: Service, stage: Stage, nowMs: number): Promise<void> {
  await service.adminJson("emails", "send-due");
  const unsent = `SELECT id FROM sign_in_mails WHERE attempts > 0 OR next_attempt_at_ms <= ${nowMs}`;
  await eventually(async () => expect(await stage.query(unsent)).toEqual([]));
}

/** The sign-in codes that were mailed to an email, oldest first. */
export async function codesTo(dataDir: string, email: string): Promise<string[]> {
  const mails = await mailsTo(dataDir, email);
  return mails.flatMap(({ subject = "" }) => /^[\w-]+(?= is your)/.exec(subject)?.[0] ?? []);
}

/** Waits for a sign-in code that is none of the earlier ones. */
export function newCodeTo(dataDir: string, email: string, earlier: string[]): Promise<string> {
  return eventually(async () => {
    const made = (await codesTo(dataDir, email)).findLast((code) => !earlier.includes(code));
    return made ?? Promise.reject(new Error(`no code for ${email}`));
  });
}

/** Waits for the newest sign-in code. */
export function codeTo(dataDir: string, email: string): Promise<string> {
  return newCodeTo(dataDir, email, []);
}
