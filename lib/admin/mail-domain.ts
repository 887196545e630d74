import { createPublicKey } from "node:crypto";
import { readTxt } from "@/lib/admin/txt-records";
import { fault, fine, type Verdict, warning } from "@/lib/admin/verdict";
import type { DkimKey, MailSettings } from "@/lib/settings/mail-settings";

/* What mailbox providers find of our mail's domain in DNS. */

/** The domain that SPF is about. Resend takes returned mail at a name of its own. */
export function spfDomainOf({ kind, from }: MailSettings): string {
  const domain = domainOf(from.address);
  return kind === "resend" ? `send.${domain}` : domain;
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
    const tag = (wanted: string) => new RegExp(`;\\s*${wanted}\\s*=\\s*(\\w+)`, "i").exec(record)?.[1];
    const policy = (at > 0 && tag("sp")) || tag("p"); // below where it is published, sp stands before p
    if (/^(?:quarantine|reject)$/i.test(policy ?? "")) return fine(`${name}: ${record}`);
    return fine(`${name}: ${record}. Forged mail is still delivered; p=quarantine would keep it out`);
  }
  return warning(
    `there is no DMARC record for ${domain}: Gmail and Yahoo refuse mail in bulk without one`,
    `Publish a TXT record at _dmarc.${domain}: v=DMARC1; p=none`,
  );
}

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);
