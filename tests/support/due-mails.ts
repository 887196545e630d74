import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { hashEmail } from "@/lib/mail/suppressions";

/**
 * Inserts accounts `from` to `to` directly into the store, each with one onboarding mail that is long due. On PostgreSQL
 * up to 1,000 become due one after the other, from now on, with `apartMs`.
 */
export async function writeDueMails(
  { databaseUrl, dataDir = "" }: { databaseUrl?: string | undefined; dataDir?: string },
  { from, to, apartMs }: { from: number; to: number; apartMs?: number },
): Promise<void> {
  const dueAtMs = apartMs ? Date.now() : Date.now() - 60_000;
  if (databaseUrl) return writeToPostgres(databaseUrl, { from, to, dueAtMs, apartMs });
  const db = new DatabaseSync(join(dataDir, "store.sqlite"), { timeout: 5000 });
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const account = db.prepare(
    "INSERT INTO accounts (id, email, subject, plan, created_at_ms) VALUES (?, ?, ?, 'hobby', 0)",
  );
  const mail = db.prepare(
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
     VALUES (?, ?, ?, 'welcome', ?, 'scheduled', ?)`,
  );
  for (let n = from; n < to; n++) {
    const email = `reader${n}@example.com`;
    account.run(`acc_${n}`, email, `user_${n}`);
    mail.run(`mail-${n}`, `acc_${n}`, hashEmail(email), dueAtMs + (n % 1000), dueAtMs + (n % 1000));
  }
  db.exec("COMMIT");
  db.close();
}

async function writeToPostgres(
  databaseUrl: string,
  {
    from,
    to,
    dueAtMs,
    apartMs = 1,
  }: { from: number; to: number; dueAtMs: number; apartMs?: number | undefined },
): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const each = `generate_series(${from}, ${to - 1}) AS n`;
  await client.query(
    `INSERT INTO accounts (id, email, subject, plan, created_at_ms)
     SELECT 'acc_' || n, 'reader' || n || '@example.com', 'user_' || n, 'hobby', 0 FROM ${each}`,
  );
  // The same hash as hashEmail.
  const hash = `rtrim(translate(encode(sha256(convert_to('corner-office:email-suppression:v1:reader' || n || '@example.com', 'UTF8')), 'base64'), '+/', '-_'), '=')`;
  await client.query(
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
     SELECT 'mail-' || n, 'acc_' || n, ${hash}, 'welcome', ${dueAtMs} + n % 1000 * ${apartMs}, 'scheduled', ${dueAtMs} + n % 1000 * ${apartMs}
     FROM ${each}`,
  );
  await client.end();
}
