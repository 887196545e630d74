import { describe, expect, it } from "vitest";
import { findCurrentSession } from "@/lib/auth/sessions/session";
import { oauthBounds } from "@/lib/config/limits";
import { appSessionId, startAppSession } from "@/lib/oauth/app-session";
import { rotateTokens } from "@/lib/oauth/token-rotation";
import { hashSecret } from "@/lib/runtime/secret";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 23);

describe.each(engines)("the exchange of a code or refresh token, on $name", async (engine) => {
  const [codes, refreshTokens] = ["AuthorizationCode", "RefreshToken"] as const;
  let grants = 0;

  const stage = await startStage(engine);
  const [db, other] = [await stage.open(), await stage.open()];
  await stage.query(
    `INSERT INTO accounts (id, email, subject, plan, created_at_ms)
       VALUES ('account', 'ceo@example.com', 'user_1', 'licensed', 0)`,
  );

  /** Starts a session with a code that is not used yet. Returns the grant's id, which is also the code. */
  async function approve(): Promise<string> {
    const grantId = `grant ${++grants}`;
    const session = {
      id: appSessionId(grantId),
      account_id: "account",
      name: "An app",
      app_origin: "a device",
    };
    await startAppSession(db, session, startMs);
    const row = { kind: "AuthorizationCode", id_hash: hashSecret("connect", grantId), grant_id: grantId };
    await db
      .insertInto("connect_state")
      .values({ ...row, payload: "{}", look_up_hash: null, consumed_at_ms: null, expires_at_ms: startMs })
      .execute();
    return grantId;
  }

  /** Uses one credential of a grant. Returns the refresh token that is issued for it. */
  async function use(
    grantId: string,
    kind: "AuthorizationCode" | "RefreshToken",
    jti: string,
    made: string,
    nowMs: number,
    at = db,
  ) {
    const issued = {
      kind: refreshTokens,
      id_hash: hashSecret("connect", made),
      payload: JSON.stringify({ grantId }),
      grant_id: grantId,
      look_up_hash: null,
      consumed_at_ms: null,
      expires_at_ms: Date.now() + minuteMs,
    };
    const rotated = await rotateTokens(at, { used: { kind, jti }, grantId, issued }, nowMs);
    return rotated === "used before" ? undefined : (rotated.successor ?? made);
  }

  /** A session in which the app has redeemed its code, at the start, for the token `first` of this grant. */
  async function connect() {
    const grantId = await approve();
    const first = `${grantId} first`;
    expect(await use(grantId, codes, grantId, first, startMs)).toBe(first);
    return {
      grantId,
      first,
      refresh: (id = "", nowMs = startMs, at = db) =>
        use(grantId, refreshTokens, id, `${grantId} library's`, nowMs, at),
      isAlive: async () => (await findCurrentSession(db, appSessionId(grantId), startMs)) !== undefined,
    };
  }

  it("uses a code once, however many requests have read it before (RFC 6749 §4.1.2)", async () => {
    const grantId = await approve();
    const outcomes = await Promise.all(
      [db, other, db, other].map((at, n) => use(grantId, codes, grantId, `${grantId} ${n}`, startMs, at)),
    );
    expect(outcomes.filter((token) => token !== undefined)).toHaveLength(1);
    const [row] = await stage.query(
      `SELECT count(*) AS n FROM connect_state WHERE kind = 'RefreshToken' AND grant_id = '${grantId}'`,
    );
    expect(Number(row?.n)).toBe(1);
  });

  it("takes a refresh token again up to a minute after its first use, to the millisecond", async () => {
    for (const [lateMs, isTaken] of [
      [59_999, true],
      [60_000, false],
    ] as const) {
      const { first, refresh, isAlive } = await connect();
      const successor = await refresh(first);
      expect(await refresh(successor, startMs + 1)).toBeDefined();
      expect(await refresh(first, startMs + lateMs)).toBe(isTaken ? successor : undefined);
      expect(await isAlive()).toBe(isTaken);
    }
  });

  it("goes on from successors that cannot be derived, because their secret has gone", async () => {
    const issuedBefore = async (grantId: string, parent: string, parentUsedAtMs: number) => {
      const id = `${grantId} from before`;
      await stage.query(
        `UPDATE connect_state SET consumed_at_ms = ${parentUsedAtMs} WHERE id_hash = '${hashSecret("connect", parent)}'`,
      );
      await stage.query(
        `INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms, parent_hash)
         VALUES ('RefreshToken', '${hashSecret("connect", id)}', '{}', '${grantId}', ${startMs + 60 * minuteMs}, '${hashSecret("connect", parent)}')`,
      );
      return id;
    };
    for (const isItsAnswerUsed of [true, false]) {
      const { grantId, first, refresh, isAlive } = await connect();
      const before = await issuedBefore(grantId, first, startMs);
      const successor = await refresh(first, startMs + 59_999);
      expect(await refresh(first, startMs + 61 * minuteMs), "one chain from now on").toBe(successor);
      expect(await isAlive()).toBe(true);
      if (isItsAnswerUsed) {
        expect(await refresh(before, startMs + 62 * minuteMs)).toBeDefined();
        expect(await refresh(first, startMs + 63 * minuteMs), "two steps behind").toBeUndefined();
        expect(await isAlive()).toBe(false);
      }
    }
    const { grantId, first, refresh, isAlive } = await connect();
    const before = await issuedBefore(grantId, first, startMs);
    expect(await refresh(first, startMs + 61 * minuteMs), "its answer was lost").toBeDefined();
    expect(await refresh(before, startMs + 63 * minuteMs), "or was not").toBeUndefined();
    expect(await isAlive()).toBe(false);
  });

  it("writes nothing if the token cannot be stored", async () => {
    const { grantId, first } = await connect();
    const unused = `SELECT 1 FROM connect_state WHERE id_hash = '${hashSecret("connect", grantId)}' AND consumed_at_ms IS NULL`;
    await stage.query(
      `UPDATE connect_state SET consumed_at_ms = NULL WHERE id_hash = '${hashSecret("connect", grantId)}'`,
    );
    await expect(use(grantId, codes, grantId, first, startMs), "an id that exists").rejects.toThrow();
    expect(await stage.query(unused)).toHaveLength(1);
  });

  it("refuses a token that was deleted in the meantime, and does not end the session", async () => {
    const { first, refresh, isAlive } = await connect();
    await stage.query(`DELETE FROM connect_state WHERE id_hash = '${hashSecret("connect", first)}'`);
    expect(await refresh(first)).toBeUndefined();
    expect(await isAlive()).toBe(true);
  });

  it("keeps the newest refresh tokens of a session, and looks for older ones once in 16 renewals", async () => {
    const { grantId, first, refresh } = await connect();
    const { refreshTokens: maxRows } = oauthBounds;
    await stage.query(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${maxRows})
       INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms)
       SELECT 'RefreshToken', '${grantId}-' || n, '{}', '${grantId}', n FROM numbers`,
    );
    const list = () =>
      stage.query(
        `SELECT id_hash FROM connect_state WHERE kind = 'RefreshToken' AND grant_id = '${grantId}' ORDER BY expires_at_ms`,
      );
    let [newest, renewals]: [string | undefined, number] = [first, 0];
    do {
      newest = await refresh(newest, startMs + renewals++);
    } while ((await list()).length === maxRows + 1 + renewals && renewals < 500);
    const rows = await list();
    expect(rows).toHaveLength(maxRows);
    expect(rows[0]?.id_hash, "the oldest are deleted").toBe(`${grantId}-${renewals + 2}`);
    expect(rows.at(-1)?.id_hash).toBe(hashSecret("connect", newest ?? ""));
  });
});
