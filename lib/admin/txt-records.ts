import dns from "node:dns/promises";
import { within } from "@/lib/process/deadline";

const answerWithinMs = 3000;

/**
 * The TXT records at a name that look like this, asked of the resolver that Node uses on this machine; none where there
 * is no such name. Throws a {@link DnsError} where nothing can be said.
 */
export async function readTxt(name: string, pattern: RegExp): Promise<string[]> {
  try {
    const records = await within(answerWithinMs, dns.resolveTxt(name));
    return records.map((parts) => parts.join("")).filter((record) => pattern.test(record));
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === "ENODATA" || code === "ENOTFOUND") return [];
    throw new DnsError(name, code === "ESERVFAIL" ? "SERVFAIL" : (code ?? message));
  }
}

/** DNS does not answer, so that nothing can be said. */
export class DnsError extends Error {
  constructor(name: string, why: string) {
    super(`DNS does not answer for ${name} (${why}): where mailboxes see the same, they put our mail off`);
  }
}
