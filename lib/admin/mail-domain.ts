import { createPublicKey } from "node:crypto";
import dns from "node:dns/promises";
import { type CheckResult, fault, fine, warning } from "@/lib/admin/check-result";
import type { MailSettings } from "@/lib/config/mail-settings";
import { withTimeout } from "@/lib/runtime/timeout";

/*
 * Checks the DNS records of the mail domain that mailbox providers look up: SPF, DKIM and DMARC. Each is judged by its
 * own text; includes are not followed.
 */

/** Checks that the domain names its sending servers (SPF, RFC 7208). */
export async function checkSpf({ kind, from }: MailSettings): Promise<CheckResult> {
  // Resend uses a subdomain for bounces.
  const name = `${kind === "resend" ? "send." : ""}${domainOf(from.address)}`;
  const missing = warning(
    `no SPF record at ${name}: large mailbox providers trust such mail less`,
    `Publish a TXT record at ${name} that names your mail service: v=spf1 include:<its domain> ~all`,
  );
  return judge([name], /^v=spf1( |$)/i, missing, (record) =>
    / [~-]all( |$)| redirect=/i.test(record)
      ? undefined
      : warning(`${name} allows any server to send: ${record}`, "End the record with ~all or -all."),
  );
}

/** Checks that the public key of our signature is published (DKIM, RFC 6376). */
export async function checkDkim(mail: MailSettings): Promise<CheckResult> {
  if (mail.kind === "resend") return checkKey(`resend._domainkey.${domainOf(mail.from.address)}`);
  if (mail.kind === "smtp" && mail.dkim) {
    const { domainName, keySelector, privateKey } = mail.dkim;
    const key = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
    return checkKey(`${keySelector}._domainkey.${domainName}`, key);
  }
  return warning(
    "your mail server must sign; this command cannot check that",
    "Look for dkim=pass in a mail that you received from here, or set the three DKIM_… settings.",
  );
}

/** @param ours - the expected key; if undefined, any key is fine */
function checkKey(name: string, ours?: string): Promise<CheckResult> {
  const remedy = ours
    ? `Publish a TXT record at ${name}: v=DKIM1; k=rsa; p=${ours}`
    : "Add the records that Resend's dashboard shows for the domain.";
  const missing = fault(`no DKIM record at ${name}: every signature fails`, remedy);
  return judge([name], /(^|;)\s*p=/, missing, (record) => {
    const published = /(?:^|;)\s*p=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, "");
    if (published && published === (ours ?? published)) return undefined;
    return fault(`${name} has a different key than the one that signs: ${record}`, remedy);
  });
}

/** Checks the policy for mail that fails SPF and DKIM (DMARC, RFC 7489), at the domain or a parent. */
export async function checkDmarc({ from }: MailSettings): Promise<CheckResult> {
  const domain = domainOf(from.address);
  const labels = domain.split(".");
  const names = labels.slice(0, -1).map((_, at) => `_dmarc.${labels.slice(at).join(".")}`);
  const missing = warning(
    `no DMARC record for ${domain}: Gmail and Yahoo reject bulk mail without one`,
    `Publish a TXT record at _dmarc.${domain}: v=DMARC1; p=none`,
  );
  return judge(names, /^v=DMARC1\s*(;|$)/, missing, (record, name) =>
    /;\s*p\s*=\s*(?:quarantine|reject)/i.test(record)
      ? undefined
      : warning(
          `${name} does not block forged mail: ${record}`,
          "Change the record to p=quarantine once your own mail passes.",
        ),
  );
}

/** Judges the one record of this form, at the first name that has any. `complain` says what is wrong with it. */
async function judge(
  names: string[],
  form: RegExp,
  missing: CheckResult,
  complain: (record: string, name: string) => CheckResult | undefined,
): Promise<CheckResult> {
  for (const name of names) {
    const [record, ...others] = await readTxt(name, form);
    if (record === undefined) continue;
    if (others.length === 0) return complain(record, name) ?? fine(`${name}: ${record}`);
    return fault(
      `${name} has more than one such record, so mailbox providers ignore them all`,
      "Keep one of them.",
    );
  }
  return missing;
}

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

const answerWithinMs = 3000;

/**
 * The TXT records of a name that match, from the resolver that Node uses on this machine; empty if the name does not
 * exist. Throws if DNS does not answer, because then nothing is known.
 */
async function readTxt(name: string, pattern: RegExp): Promise<string[]> {
  try {
    const records = await withTimeout(answerWithinMs, dns.resolveTxt(name));
    return records.map((parts) => parts.join("")).filter((record) => pattern.test(record));
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === "ENODATA" || code === "ENOTFOUND") return [];
    const why = code === "ESERVFAIL" ? "SERVFAIL" : (code ?? message);
    throw new Error(
      `DNS does not answer for ${name} (${why}): mailbox providers that see the same delay our mail`,
    );
  }
}
