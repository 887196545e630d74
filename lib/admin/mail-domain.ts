import { createPublicKey } from "node:crypto";
import { resolveTxt } from "node:dns/promises";
import { fault, fine, type Verdict, warning } from "@/lib/admin/verdict";
import { within } from "@/lib/process/deadline";
import type { DkimKey, MailSettings } from "@/lib/settings/mail-settings";

/*
 * What mailbox providers find of our mail's domain in DNS, asked of the resolver that Node uses on this machine.
 */

const answerWithinMs = 3000;

/** Whether the servers that send for the domain are named (SPF, RFC 7208). */
export async function checkSpf({ kind, from }: MailSettings): Promise<Verdict> {
  // Resend takes returned mail at a name of its own, and SPF is about that one.
  const domain = kind === "resend" ? `send.${domainOf(from.address)}` : domainOf(from.address);
  const records = await readTxt(domain, /^v=spf1( |$)/i);
  const [record = "", ...more] = records;
  const publish = `Publish a TXT record at ${domain} that names your mail service: v=spf1 include:<its domain> ~all`;
  if (records.length === 0) {
    return warning(
      `${domain} names no servers that send for it: large mailboxes trust such mail less`,
      publish,
    );
  }
  if (more.length > 0) {
    return fault(
      `${domain} has ${records.length} SPF records, so mailboxes use none of them (RFC 7208 §4.5)`,
      "Make one record of them.",
    );
  }
  if (/(^| )\+?all( |$)/i.test(record)) {
    return warning(`${domain} lets anybody send for it: ${record}`, "End the record with ~all or -all.");
  }
  if (!/ [~-]all( |$)| redirect=/i.test(record)) {
    return warning(`${domain} says nothing of other servers: ${record}`, "End the record with ~all or -all.");
  }
  return fine(`${domain}: ${record}`);
}

/** Whether the key that our mail is signed with is published (DKIM, RFC 6376). */
export async function checkDkim(mail: MailSettings): Promise<Verdict> {
  if (mail.kind === "resend") return checkResendsKey(domainOf(mail.from.address));
  if (mail.kind === "smtp" && mail.dkim) return checkOurKey(mail.dkim);
  return warning(
    "your mail server has to sign, and nothing here can tell whether it does",
    "Look for dkim=pass in a mail that you got from here, or set the three DKIM_… settings.",
  );
}

async function checkOurKey({ domainName, keySelector, privateKey }: DkimKey): Promise<Verdict> {
  const name = `${keySelector}._domainkey.${domainName}`;
  const key = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
  const publish = `Publish a TXT record at ${name}: v=DKIM1; k=rsa; p=${key}`;
  const [record] = await readTxt(name, /(^|;)\s*p=/);
  if (record === undefined) {
    return fault(`there is no key at ${name}: mailboxes take every signature for a forgery`, publish);
  }
  const published = /(?:^|;)\s*p=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, "");
  if (published === "") return fault(`the key at ${name} is revoked: every signature fails`, publish);
  if (published !== key) return fault(`the key at ${name} is another: every signature fails`, publish);
  return fine(`${name} has our key`);
}

async function checkResendsKey(domain: string): Promise<Verdict> {
  const name = `resend._domainkey.${domain}`;
  const [record] = await readTxt(name, /(^|;)\s*p=[^;\s]/);
  if (record !== undefined) return fine(`${name} has Resend's key`);
  return fault(
    `there is no key at ${name}: Resend cannot sign for ${domain}`,
    `Add the records that Resend's dashboard shows for ${domain}.`,
  );
}

/** What mailboxes are asked to do with mail that is neither (DMARC); found at the domain or one above it. */
export async function checkDmarc({ from }: MailSettings): Promise<Verdict> {
  const domain = domainOf(from.address);
  const labels = domain.split(".");
  for (let at = 0; at < labels.length - 1; at++) {
    const name = `_dmarc.${labels.slice(at).join(".")}`;
    const [record, ...more] = await readTxt(name, /^v=DMARC1\s*(;|$)/);
    if (record === undefined) continue;
    if (more.length > 0) {
      return fault(
        `${name} has ${more.length + 1} records, so mailboxes use none of them`,
        "Leave one of them.",
      );
    }
    if (/;\s*p=(quarantine|reject)\b/i.test(record)) return fine(`${name}: ${record}`);
    return fine(`${name}: ${record}. Forged mail is still delivered; p=quarantine would keep it out`);
  }
  return warning(
    `there is no DMARC record for ${domain}: Gmail and Yahoo refuse mail in bulk without one`,
    `Publish a TXT record at _dmarc.${domain}: v=DMARC1; p=none`,
  );
}

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

/** The TXT records at a name that look like this; none where there is no such name. Throws when DNS does not answer. */
async function readTxt(name: string, pattern: RegExp): Promise<string[]> {
  try {
    const records = await within(answerWithinMs, resolveTxt(name));
    return records.map((parts) => parts.join("")).filter((record) => pattern.test(record));
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === "ENODATA" || code === "ENOTFOUND") return [];
    throw new DnsError(code ?? message);
  }
}

/** DNS does not answer, so that nothing can be said. */
export class DnsError extends Error {
  constructor(why: string) {
    super(`DNS does not answer (${why})`);
  }
}
