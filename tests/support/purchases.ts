import { createHash, randomBytes } from "node:crypto";
import { browserSessionSeconds } from "@/lib/auth/browser-session";
import type { Stage } from "@/tests/support/engines";

/** The purchase of an owner, and the session and address of the owner's browser. */
export type Purchase = { account: string; cookie: string; kind: "licence" | "credits"; from: string };

/** The purchases that are missing, and those that are there more than once: licences by plan, credits by balance and ledger. */
export async function countGiven(stage: Pick<Stage, "query">, purchases: Purchase[]) {
  const rows = await stage.query(
    `SELECT id, plan, credit_thousandths AS credits,
            (SELECT count(*) FROM credit_entries WHERE account_id = accounts.id) AS entries FROM accounts`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  let [lost, twice] = [0, 0];
  for (const { account, kind } of purchases) {
    const { plan, credits, entries } = byId.get(account) ?? {};
    if (kind === "licence" ? plan !== "licensed" : Number(credits) < 500_000) lost++;
    if (Number(credits) > (kind === "credits" ? 500_000 : 0) || Number(entries) > 1) twice++;
  }
  return { lost, twice };
}

/** Makes accounts with signed-in owners, half of which have a licence and buy credits. */
export async function makeOwners(stage: Pick<Stage, "query">, count: number): Promise<Purchase[]> {
  const nowMs = Date.now();
  const owners = Array.from({ length: count }, (_, n) => {
    const secret = randomBytes(32).toString("base64url");
    const hash = createHash("sha256").update(`corner-office:client:v1:${secret}`).digest("base64url");
    const kind = n % 2 === 0 ? ("licence" as const) : ("credits" as const);
    const from = `127.40.${Math.floor(n / 250)}.${(n % 250) + 1}`;
    return { account: `acc_${n}`, hash, cookie: `office-client=${secret}`, kind, from, n };
  });
  for (let at = 0; at < count; at += 100) {
    const some = owners.slice(at, at + 100);
    const accounts = some.map(
      ({ account, kind, n }) =>
        `('${account}', 'owner-${n}@example.com', 'user_${n}', ${kind === "licence" ? `'trial', 0` : `'licensed', null`}, 0, ${nowMs})`,
    );
    await stage.query(
      `INSERT INTO accounts (id, email, subject, plan, trial_ends_at_ms, credit_thousandths, created_at_ms) VALUES ${accounts.join(", ")}`,
    );
    const untilMs = nowMs + browserSessionSeconds * 1000;
    const sessions = some.map(
      ({ account, hash, n }) => `('sess_${n}', '${account}', ${untilMs}, '${hash}', 'browser', 'A browser')`,
    );
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, expires_at_ms, client_hash, kind, name) VALUES ${sessions.join(", ")}`,
    );
  }
  return owners;
}
