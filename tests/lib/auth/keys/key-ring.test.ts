import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";
import type { KyselyPlugin } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { KeyRing } from "@/lib/auth/keys/key-ring";
import {
  issuerPrefix,
  propagationMs,
  readSigningKeys,
  revokeKey,
  rotateKeys,
} from "@/lib/auth/keys/signing-keys";
import { startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

/** Half the usual length, because nothing is signed here and such a key is generated in a tenth of the time. */
const modulusLength = 1024;
const { generateKeyPair } = crypto;
const make = promisify(generateKeyPair);
crypto.generateKeyPair = Object.assign(() => {}, {
  [promisify.custom]: (type: "rsa") => make(type, { modulusLength }),
}) as unknown as typeof generateKeyPair;
syncBuiltinESMExports();
afterAll(() => {
  crypto.generateKeyPair = generateKeyPair;
  syncBuiltinESMExports();
});

process.env.APP_SECRET = "a secret of this test alone, and no other";

const hourMs = 60 * 60 * 1000;
const nowMs = 1_800_000_000_000;

describe.each(engines)("the key ring on $name", async (engine) => {
  let reads = 0;
  let isAway = false;

  const stage = await startStage(engine);
  const db = await stage.open();
  beforeEach(async () => {
    await stage.query("DELETE FROM signing_keys");
    reads = 0;
    isAway = false;
  });

  /** The ring of another process. */
  function newRing(): KeyRing {
    const open = async () => {
      reads++;
      if (isAway) throw new Error("the store is away");
      return db;
    };
    return new KeyRing(open, 50);
  }

  it("makes one first key, however many instances start at once", async () => {
    const rings = [newRing(), newRing(), newRing()];
    const keys = await Promise.all(rings.map((ring) => ring.signing(nowMs)));
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
    expect(keys[0]?.issuer).toBe(issuerPrefix + keys[0]?.kid);
    expect(await readSigningKeys(db)).toHaveLength(1);
  });

  it("signs with a new key a minute after it was made, and verifies the old one's last token", async () => {
    const ring = newRing();
    const old = await ring.signing(nowMs);
    await rotateKeys(db, nowMs);
    const other = newRing();
    const isSigning = async (atMs: number) => (await other.signing(atMs)).kid === old.kid;
    expect(await isSigning(nowMs + propagationMs - 1)).toBe(true);
    expect(await isSigning(nowMs + propagationMs)).toBe(false);
    const next = await other.signing(nowMs + propagationMs);
    expect(next.issuer).toBe(old.issuer);
    expect(await ring.find(next.kid, nowMs)).toBeDefined();
    expect((await ring.published(nowMs)).map(({ kid }) => kid)).toEqual([old.kid, next.kid]);
    // An instance signs with it for at most another minute, and its tokens live for an hour.
    const expiresAtMs = nowMs + 2 * propagationMs + hourMs;
    expect(await newRing().find(old.kid, expiresAtMs - 1)).toBeDefined();
    expect(await newRing().find(old.kid, expiresAtMs)).toBeUndefined();
  });

  it("does not bring a revoked key back when an earlier reading answers later", async () => {
    const [held, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isHeld = false;
    const holding: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (isHeld) {
          isHeld = false;
          read.resolve();
          await held.promise;
        }
        return result;
      },
    };
    const ring = new KeyRing(async () => db.withPlugin(holding), 50);
    const { kid } = await ring.signing(nowMs);
    isHeld = true;
    ring.refreshInBackground(nowMs, 0);
    await read.promise;
    await revokeKey(db, kid, nowMs);
    ring.refreshInBackground(nowMs, 0);
    await eventually(() => expect(ring.knows(kid, nowMs)).toBe(false));
    held.resolve();
    for (let turn = 0; turn < 50; turn++) {
      await new Promise(setImmediate);
      expect(ring.knows(kid, nowMs)).toBe(false);
    }
  });

  it("reads a new key within a minute", async () => {
    const ring = newRing();
    const { kid } = await ring.signing(nowMs);
    await rotateKeys(db, nowMs);
    const [, added] = await readSigningKeys(db);
    expect(ring.knows(added?.kid ?? "", nowMs + 20_000)).toBe(false);
    await expect.poll(() => ring.knows(added?.kid ?? "", nowMs + 20_000)).toBe(true);
    expect(ring.knows(kid, nowMs + 20_000)).toBe(true);
  });

  it("rotates once if two operators rotate at the same time", async () => {
    await newRing().signing(nowMs);
    const rotations = await Promise.allSettled([rotateKeys(db, nowMs), rotateKeys(db, nowMs)]);
    const rows = await readSigningKeys(db);
    expect(rows.length).toBe(1 + rotations.filter(({ status }) => status === "fulfilled").length);
    expect(rows.filter((row) => row.verifies_until_ms === null)).toHaveLength(1);
  });

  it("signs at once with a key that was to sign in a minute if the only other key is revoked", async () => {
    const ring = newRing();
    const { kid } = await ring.signing(nowMs);
    await rotateKeys(db, nowMs);
    await revokeKey(db, kid, nowMs);
    const [, next, ...others] = await readSigningKeys(db);
    expect(others).toEqual([]);
    expect((await newRing().signing(nowMs)).kid).toBe(next?.kid);
  });

  it("pauses between the refreshes for unknown key ids", async () => {
    const ring = newRing();
    await ring.signing(nowMs);
    reads = 0;
    const made = Array.from({ length: 500 }, (_, at) => ring.find(`made-up-${at}`, nowMs));
    expect(new Set(await Promise.all(made))).toEqual(new Set([undefined]));
    expect(reads).toBe(1);
    const startedAtMs = performance.now();
    for (let at = 0; at < 5; at++) await ring.find("made-up", nowMs);
    expect(performance.now() - startedAtMs).toBeGreaterThan(4 * 50);
  });

  it("verifies with the known keys while the store is unavailable, and throws for others", async () => {
    const ring = newRing();
    const { kid } = await ring.signing(nowMs);
    isAway = true;
    expect(await ring.find(kid, nowMs + hourMs)).toBeDefined();
    await expect(ring.find("unknown", nowMs)).rejects.toThrow("the store is away");
    await expect(ring.signing(nowMs + hourMs)).rejects.toThrow("the store is away");
    await expect(newRing().find(kid, nowMs)).rejects.toThrow("the store is away");
    await expect(newRing().published(nowMs)).rejects.toThrow("the store is away");
    isAway = false;
    expect(await ring.signing(nowMs + hourMs)).toMatchObject({ kid });
  });

  it("throws for a key that none of our secrets can decrypt, or that was altered", async () => {
    const { kid } = await newRing().signing(nowMs);
    const [row] = await readSigningKeys(db);
    const sealed = row?.sealed_key ?? "";
    for (const altered of [`${sealed.slice(0, -4)}AAAA`, "x"]) {
      await stage.query(`UPDATE signing_keys SET sealed_key = '${altered}'`);
      await expect(newRing().find(kid, nowMs)).rejects.toThrow("cannot be opened");
      await expect(newRing().signing(nowMs)).rejects.toThrow("cannot be opened");
      expect(await newRing().published(nowMs)).toEqual([]);
    }
    // A key in the row of another id is not accepted.
    await stage.query(`UPDATE signing_keys SET kid = 'another', sealed_key = '${sealed}'`);
    await expect(newRing().find("another", nowMs)).rejects.toThrow("cannot be opened");
  });
});
