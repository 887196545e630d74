import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oauthBounds } from "@/lib/config/limits";
import { type Db, Store } from "@/lib/db/store";
import { hash, OAuthState } from "@/lib/oauth/adapter";
import { appSessionId, startAppSession } from "@/lib/oauth/app-session";
import { TokenExchange } from "@/lib/oauth/token-exchange";
import { engines, type Stage } from "@/tests/support/engines";

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 23);

describe.each(engines)("the exchange of a code or refresh token, on $name", (engine) => {
  const codes = new OAuthState("AuthorizationCode");
  const refreshTokens = new OAuthState("RefreshToken");
  let stage: Stage;
  let stores: Store[];
  let db: Db;
  let other: Db;
  let grants = 0;

  beforeAll(async () => {
    stage = await engine.prepare();
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = "" } = stage.environment;
    const open = () => new Store({ dataDir, ...(databaseUrl && { databaseUrl }) });
    stores = [open(), open()];
    [db, other] = (await Promise.all(stores.map((store) => store.ready()))) as [Db, Db];
    await stage.query(
      `INSERT INTO accounts (id, email, subject, plan, created_at_ms)
       VALUES ('account', 'ceo@example.com', 'user_1', 'licensed', 0)`,
    );
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await stage.clear();
  });

  /** Starts a session with a code that is not used yet. Returns the grant's id, which is also the code. */
  async function approve(): Promise<string> {
    const grantId = `grant ${++grants}`;
    const session = { id: appSessionId(grantId), accountId: "account", name: "An app" };
    await startAppSession(db, { ...session, endsAtMs: startMs + 7 * 24 * 60 * minuteMs }, startMs);
    const row = { kind: "AuthorizationCode", id_hash: hash(grantId), grant_id: grantId };
    await db
      .insertInto("connect_state")
      .values({ ...row, payload: "{}", look_up_hash: null, consumed_at_ms: null, expires_at_ms: startMs })
      .execute();
    return grantId;
  }

  /** Uses one credential of a grant, and issues a refresh token for it. */
  function use(grantId: string, state: OAuthState, id: string, issued: string, nowMs: number, at = db) {
    const exchange = new TokenExchange("app replay");
    return exchange.run(async () => {
      await state.consume(id);
      await refreshTokens.upsert(issued, { grantId }, 60);
      return exchange.commit(at, nowMs);
    });
  }

  /** A session in which the app has redeemed its code, at the start, for the token `first` of this grant. */
  async function connect() {
    const grantId = await approve();
    const named = (id: string) => `${grantId} ${id}`;
    expect(await use(grantId, codes, grantId, named("first"), startMs)).toBe(true);
    return {
      named,
      refresh: (id: string, issued: string, nowMs: number, at = db) =>
        use(grantId, refreshTokens, named(id), named(issued), nowMs, at),
      isAlive: async () =>
        (await stage.query(`SELECT 1 FROM local_sessions WHERE id = '${appSessionId(grantId)}'`)).length > 0,
    };
  }

  it("uses a code once, however many requests have read it before (RFC 6749 §4.1.2)", async () => {
    const grantId = await approve();
    const outcomes = await Promise.all(
      [db, other, db, other].map((at, n) => use(grantId, codes, grantId, `${grantId} ${n}`, startMs, at)),
    );
    expect(outcomes.sort()).toEqual([false, false, false, true]);
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
      const { refresh, isAlive } = await connect();
      expect(await refresh("first", "second", startMs)).toBe(true);
      expect(await refresh("second", "third", startMs + 1)).toBe(true);
      expect(await refresh("first", "again", startMs + lateMs)).toBe(isTaken);
      expect(await isAlive()).toBe(isTaken);
    }
  });

  it("takes it again at any time until one of its successors is used, whichever that is", async () => {
    for (const used of ["second", "again"]) {
      const { refresh, isAlive } = await connect();
      expect(await refresh("first", "second", startMs)).toBe(true);
      expect(await refresh("first", "again", startMs + 60 * minuteMs)).toBe(true);
      expect(await refresh(used, "next", startMs + 61 * minuteMs)).toBe(true);
      expect(await refresh("first", "stolen", startMs + 62 * minuteMs, other)).toBe(false);
      expect(await isAlive()).toBe(false);
    }
  });

  it("takes a token of an older build, which stored no successors, for a minute only", async () => {
    const { refresh, isAlive, named } = await connect();
    expect(await refresh("first", "second", startMs)).toBe(true);
    await stage.query(
      `UPDATE connect_state SET parent_hash = NULL WHERE id_hash = '${hash(named("second"))}'`,
    );
    expect(await refresh("first", "again", startMs + 59_999)).toBe(true);
    await stage.query(
      `UPDATE connect_state SET parent_hash = NULL WHERE id_hash = '${hash(named("again"))}'`,
    );
    expect(await refresh("first", "late", startMs + 60_000)).toBe(false);
    expect(await isAlive()).toBe(false);
  });

  it("takes each of ten uses at once at two instances, and issues ten tokens", async () => {
    const { refresh, isAlive } = await connect();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => refresh("first", `second ${n}`, startMs + n, n % 2 ? db : other)),
    );
    expect(outcomes).toEqual(Array(10).fill(true));
    for (let n = 0; n < 10; n++)
      expect(await refresh(`second ${n}`, `third ${n}`, startMs + minuteMs)).toBe(true);
    expect(await isAlive()).toBe(true);
  });

  it("writes nothing if the token cannot be stored", async () => {
    const { refresh, named } = await connect();
    const unused = `SELECT 1 FROM connect_state WHERE id_hash = '${hash(named("first"))}' AND consumed_at_ms IS NULL`;
    await expect(refresh("first", "first", startMs), "an id that exists").rejects.toThrow();
    expect(await stage.query(unused)).toHaveLength(1);
    expect(await refresh("first", "second", startMs + 60 * minuteMs)).toBe(true);
  });

  it("refuses a token that was deleted in the meantime, and does not end the session", async () => {
    const { refresh, named, isAlive } = await connect();
    await stage.query(`DELETE FROM connect_state WHERE id_hash = '${hash(named("first"))}'`);
    expect(await refresh("first", "second", startMs)).toBe(false);
    expect(await isAlive()).toBe(true);
  });

  it("stores the newest refresh tokens of a session, up to the maximum", async () => {
    const { refresh, named } = await connect();
    const { refreshTokens: maxRows } = oauthBounds;
    const grantId = named("").trim();
    await stage.query(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${maxRows})
       INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms)
       SELECT 'RefreshToken', '${grantId}-' || n, '{}', '${grantId}', n FROM numbers`,
    );
    expect(await refresh("first", "second", startMs)).toBe(true);
    const rows = await stage.query(
      `SELECT id_hash FROM connect_state WHERE kind = 'RefreshToken' AND grant_id = '${grantId}' ORDER BY expires_at_ms`,
    );
    expect(rows).toHaveLength(maxRows);
    expect(rows[0]?.id_hash, "the two oldest are deleted").toBe(`${grantId}-3`);
    expect(rows.slice(-2).map(({ id_hash }) => id_hash)).toEqual([
      hash(named("first")),
      hash(named("second")),
    ]);
  });
});
