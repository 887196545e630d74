import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { dayMs } from "@/lib/config/durations";
import { operations } from "@/lib/http/operations";
import { officePages } from "@/lib/office/routes";
import { latenciesAt, median } from "@/tests/bench/load";
import { judge } from "@/tests/bench/verdict";
import { OfficeBrowser, startWithOffice } from "@/tests/support/office-browser";
import type { Environment } from "@/tests/support/service";

const many = 1_000_000;
const someEmail = `user-${many / 2}@company-${(many / 2) % 1000}.example.com`;
const rounds = 15;

/** A million accounts, a million audit entries, 500,000 sessions, and waitlist, mails and unsubscribes to match. */
export function seedStatements(nowMs: number): string[] {
  const rows = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const email = "'user-' || i || '@company-' || (i % 1000) || '.example.com'";
  const past = (days: number) => `${nowMs} - (i % ${days}) * ${dayMs} - i`;
  return [
    `INSERT INTO accounts (id, email, subject, plan, trial_ends_at_ms, trial_mail_done_ms, credit_thousandths, created_at_ms)
     ${rows(many)} SELECT 'acc_' || i, ${email}, 'user_' || i,
       CASE WHEN i % 10 < 6 THEN 'trial' WHEN i % 10 < 9 THEN 'licensed' ELSE 'hobby' END,
       CASE WHEN i % 10 < 6 THEN ${nowMs} + (i % 400 - 370) * ${dayMs} + i END, ${nowMs + 3650 * dayMs}, 1000, ${past(700)} FROM n`,
    `INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after)
     ${rows(many)} SELECT 'entry-' || i, ${past(700)}, CASE WHEN i % 50 = 0 THEN 'operator ann' ELSE 'owner' END,
       CASE WHEN i % 3 = 0 THEN 'sign in' WHEN i % 3 = 1 THEN 'token' ELSE 'account set' END, ${email}, NULL, '{"plan":"trial"}' FROM n`,
    `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind, name, begun_at_ms)
     ${rows(many / 2)} SELECT 'sess_' || i, 'acc_' || i, ${nowMs} + ${7 * dayMs}, CASE WHEN i % 4 = 0 THEN 'app' ELSE 'browser' END, 'Chromium on Linux', ${past(7)} FROM n`,
    `INSERT INTO waitlist (email, joined_at_ms) ${rows(20_000)} SELECT 'waits-' || i || '@example.com', ${past(30)} FROM n`,
    `INSERT INTO email_suppressions (email_hash, created_at_ms) ${rows(50_000)} SELECT 'hash-' || i, ${past(300)} FROM n`,
    `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state, failure)
     ${rows(100_000)} SELECT 'mail-' || i, ${email}, 'code', ${past(700)}, CASE WHEN i % 20 = 0 THEN 'failed' ELSE 'sent' END, NULL FROM n`,
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms, failure)
     ${rows(300_000)} SELECT 'onboarding-' || i, 'acc_' || i, 'h' || i, 'welcome', ${past(700)}, CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'sent' END, ${past(700)}, '552 Mailbox full' FROM n`,
  ];
}

/** Every page of the office with a million accounts, and health's p99 while an operator opens one after the other. */
export async function measureOffice(engine: string, environment: Environment): Promise<void> {
  const service = await startWithOffice({ SIGN_IN: "local", RATE_LIMIT_HEALTH: "100000000", ...environment });
  const ann = await OfficeBrowser.enrol(service, "ann");
  await service.kill();
  await seed(service.environment, seedStatements(Date.now()));
  await service.run();
  const paths = [
    ...Object.values(officePages).map(({ path }) =>
      path === "/account" ? `${path}?email=${someEmail}` : path,
    ),
    "/accounts?start=user-77",
    "/accounts?start=user-77&plan=hobby",
    "/accounts?plan=hobby",
    "/accounts?trials=running",
    "/accounts?trials=ended",
    "/audit?who=operator+ann",
    `/audit?whom=${someEmail}`,
    "/audit?what=account+set&day=2026-11-01",
    "/audit?who=no+one&what=sign+in",
  ];
  for (const path of paths) {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAtMs = performance.now();
      const { status } = await ann.open(path);
      taken.push(performance.now() - startedAtMs);
      if (status !== 200) throw new Error(`${path} is a ${status}`);
    }
    const figures = `median ${median(taken).toFixed(0)} ms, first ${taken[0]?.toFixed(0)} ms`;
    judge(
      `office ${path.replace(someEmail, "…")}, ${engine}, slowest of ${rounds}`,
      Math.max(...taken),
      { most: 150 },
      "ms",
      figures,
    );
  }
  await judgeHealth(ann, paths, engine, `http://localhost:${service.port}${operations.health.path}`);
  await service.stop();
}

/** An operator opens two pages a second. */
async function judgeHealth(ann: OfficeBrowser, paths: string[], engine: string, url: string): Promise<void> {
  const perSecond = 320;
  const alone = await latenciesAt(url, perSecond);
  let isOver = false;
  const working = (async () => {
    for (let at = 0; !isOver; at++) {
      await ann.open(paths[at % paths.length] ?? "");
      await new Promise((then) => setTimeout(then, 500));
    }
  })();
  const beside = await latenciesAt(url, perSecond);
  isOver = true;
  await working;
  const figures = `p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms then`;
  judge(`health while an operator works, ${engine}`, beside.p99 / alone.p99, { most: 1.5 }, "×", figures);
}

async function seed({ DATABASE_URL, DATA_DIR = "" }: Environment, statements: string[]): Promise<void> {
  if (DATABASE_URL) {
    const client = new pg.Client(DATABASE_URL);
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.query("VACUUM ANALYZE");
    await client.end();
    return;
  }
  const db = new Database(join(DATA_DIR, "store.sqlite"));
  for (const statement of statements) db.exec(statement);
  db.exec("ANALYZE");
  db.close();
}
