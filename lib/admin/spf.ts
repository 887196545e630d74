import { readTxt } from "@/lib/admin/txt-records";
import { fault, fine, type Verdict, warning } from "@/lib/admin/verdict";

/** More look-ups in DNS than these, and a record counts for nothing: RFC 7208 §4.6.4. */
const mostLookups = 10;

const readRecords = (domain: string) => readTxt(domain, /^v=spf1( |$)/i);

/** Whether the servers that send for a domain are named, and what large mailboxes make of it (SPF, RFC 7208). */
export async function checkSpf(domain: string): Promise<Verdict> {
  const records = await readRecords(domain);
  const [record = "", ...more] = records;
  if (records.length === 0) {
    return warning(
      `${domain} names no servers that send for it: large mailboxes trust such mail less`,
      `Publish a TXT record at ${domain} that names your mail service: v=spf1 include:<its domain> ~all`,
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
  return (await findMistake(domain, record)) ?? fine(`${domain}: ${record}`);
}

/** Follows a record as a mailbox does, and answers why it comes to nothing. */
async function findMistake(domain: string, record: string): Promise<Verdict | undefined> {
  const followed = [record];
  let lookups = 0;
  for (const one of followed) {
    for (const { asks, target } of termsOf(one)) {
      lookups++;
      if (lookups > mostLookups) {
        return fault(
          `${domain} needs more than ${mostLookups} look-ups, so mailboxes use nothing of it (RFC 7208 §4.6.4): ${record}`,
          "Leave out services that you no longer send with, or name addresses with ip4: and ip6:.",
        );
      }
      // What has a macro in it depends on who sends.
      if (!asks || !target || target.includes("%")) continue;
      const included = await readRecords(target);
      if (included.length !== 1) {
        return fault(
          `${domain} includes ${target}, which has ${included.length || "no"} SPF records, so mailboxes use nothing of it (RFC 7208 §5.2)`,
          `Take ${target} out of the record, or look whether it is spelled right.`,
        );
      }
      followed.push(...included);
    }
  }
  return undefined;
}

/** The parts of a record that cost a look-up, and whether the record of another name is asked for. */
function termsOf(record: string): { asks: boolean; target: string | undefined }[] {
  const terms = record.split(/ +/).slice(1);
  const hasAll = terms.some((term) => /^[+?~-]?all$/i.test(term)); // §6.1: redirect is not looked at then
  return terms.flatMap((term) => {
    const [, name, target] =
      /^[+?~-]?(include|a|mx|ptr|exists|redirect)(?:[:=]([^/]+))?(?:\/.*)?$/i.exec(term) ?? [];
    if (!name || (/^redirect$/i.test(name) && hasAll)) return [];
    return [{ asks: /^(?:include|redirect)$/i.test(name), target }];
  });
}
