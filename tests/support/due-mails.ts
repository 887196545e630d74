import { hashEmail } from "@/lib/mail/outbox/suppressions";
import type { OpenStore } from "@/tests/support/stores";

/** The states of an account's onboarding mails, but for the first, which is sent at some point during a test. */
export async function laterStates({ query }: Pick<OpenStore, "query">, email: string): Promise<unknown[]> {
  const rows = await query(
    `SELECT DISTINCT state FROM onboarding_emails JOIN accounts ON accounts.id = account_id
     WHERE email = '${email}' AND kind <> 'welcome'`,
  );
  return rows.map(({ state }) => state);
}

const rowsOfAStatement = 500;

/**
 * Inserts accounts `from` to `to` directly into the store, each with one onboarding mail that is long due; with `apartMs`
 * up to 1,000 become due one after the other, from now on.
 */
export async function writeDueMails(
  { query }: Pick<OpenStore, "query">,
  { from, to, apartMs }: { from: number; to: number; apartMs?: number },
): Promise<void> {
  const firstDueAtMs = Date.now() - (apartMs ? 0 : 60_000);
  for (let first = from; first < to; first += rowsOfAStatement) {
    const numbers = Array.from({ length: Math.min(rowsOfAStatement, to - first) }, (_, n) => first + n);
    const accounts = numbers.map((n) => `('acc_${n}', 'reader${n}@example.com', 'user_${n}', 'hobby', 0)`);
    const mails = numbers.map((n) => {
      const dueAtMs = firstDueAtMs + (n % 1000) * (apartMs ?? 1);
      const hash = hashEmail(`reader${n}@example.com`);
      return `('mail-${n}', 'acc_${n}', '${hash}', 'welcome', ${dueAtMs}, 'scheduled', ${dueAtMs})`;
    });
    await query(`INSERT INTO accounts (id, email, subject, plan, created_at_ms) VALUES ${accounts.join()}`);
    await query(
      `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
       VALUES ${mails.join()}`,
    );
  }
}
