import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { longestTokenSeconds } from "@/lib/auth/session-token";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { isSealedWithCurrentSecret, seal, unseal } from "@/lib/runtime/seal";

/** The `iss` of our tokens is this and the hash of the first key, so it depends on no address. */
export const issuerPrefix = "urn:corner-office:";

/** Every instance has read the ring anew by then, so a new key signs only when it is known everywhere. */
export const followsWithinMs = 60_000; // 1 minute

/** How long a key verifies after the last instance has stopped signing with it. */
const lastTokenMs = longestTokenSeconds * 1000 + followsWithinMs;

export type SigningKeyRow = Tables["signing_keys"];

/** All keys there ever were, in their order. */
export function readSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return db.selectFrom("signing_keys").selectAll().orderBy("place").execute();
}

/** What an entry of the audit says of the keys: when each signs, verifies, was revoked. */
const ofKeys = {
  whom: null,
  async look(transaction: Db) {
    const rows = await readSigningKeys(transaction);
    return Object.fromEntries(
      rows.map(({ kid, signs_from_ms, verifies_until_ms, revoked_at_ms }) => [
        kid,
        { signs_from_ms, verifies_until_ms, revoked_at_ms },
      ]),
    );
  },
};

/** Whether tokens of this key are good at `nowMs`. */
export function verifies({ revoked_at_ms, verifies_until_ms }: SigningKeyRow, nowMs: number): boolean {
  return revoked_at_ms === null && (verifies_until_ms === null || nowMs < verifies_until_ms);
}

/** The key that signs at `nowMs`: the last that has begun to, or the newest where this machine's clock is behind. */
export function findSigner(rows: SigningKeyRow[], nowMs: number): SigningKeyRow | undefined {
  const hasBegun = (row: SigningKeyRow) => row.signs_from_ms !== null && row.signs_from_ms <= nowMs;
  return rows.findLast((row) => hasBegun(row) && verifies(row, nowMs)) ?? findNewest(rows);
}

/** Makes the first key, which signs at once. Of instances that try at the same moment, one does. */
export async function makeFirstKey(db: Db, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await auditedTransaction(
    db,
    { by: "service", what: "keys make", ...ofKeys },
    nowMs,
    async (transaction) => {
      const rows = await readSigningKeys(transaction);
      if (!findNewest(rows)) await addKey(transaction, rows, { privateKey, signsFromMs: nowMs }, nowMs);
    },
  );
}

/** Adds a key that signs in a minute, and lets the others verify until their last token is over. */
export async function rotateKeys(db: Db, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await auditedTransaction(
    db,
    { by: "operator", what: "keys rotate", ...ofKeys },
    nowMs,
    async (transaction) => {
      const rows = await readSigningKeys(transaction);
      const newest = findNewest(rows);
      const signsFromMs = newest ? nowMs + followsWithinMs : nowMs;
      const added = await addKey(
        transaction,
        rows,
        { privateKey, signsFromMs, issuer: newest?.issuer },
        nowMs,
      );
      if (!added) throw changedMeanwhile();
      await transaction
        .updateTable("signing_keys")
        .set({ verifies_until_ms: signsFromMs + lastTokenMs })
        .where("verifies_until_ms", "is", null)
        .where("kid", "!=", describeKey(privateKey).kid)
        .execute();
      await transaction
        .updateTable("signing_keys")
        .set({ sealed_key: null })
        .where("verifies_until_ms", "<=", nowMs)
        .execute();
    },
  );
}

/**
 * Revokes a key: its tokens are refused from now on, and its private half is gone. Where no key is left to sign,
 * the next one signs at once. Throws an {@link ApiError} when there is no such key.
 */
export async function revokeKey(db: Db, kid: string, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await auditedTransaction(
    db,
    { by: "operator", what: "keys revoke", ...ofKeys },
    nowMs,
    async (transaction) => {
      const revoked = await transaction
        .updateTable("signing_keys")
        .set({ revoked_at_ms: nowMs, verifies_until_ms: nowMs, sealed_key: null })
        .where("kid", "=", kid)
        .returning("issuer")
        .executeTakeFirst();
      if (!revoked) {
        throw new ApiError("not_found", { message: "There is no such key.", hint: "See 'keys list'." });
      }
      const rows = await readSigningKeys(transaction);
      if (findNewest(rows)) return;
      const { issuer } = revoked;
      const added = await addKey(transaction, rows, { privateKey, signsFromMs: nowMs, issuer }, nowMs);
      if (!added) throw changedMeanwhile();
    },
  );
}

/**
 * Takes in the key that a build before the ring kept in a file, with its issuer, so that its tokens go on. Where the
 * ring signs with another already, it verifies until its last token is over.
 */
export async function importKey(db: Db, privateKey: KeyObject, nowMs: number): Promise<void> {
  const { kid } = describeKey(privateKey);
  for (let attempt = 0; attempt < 5; attempt++) {
    const rows = await readSigningKeys(db);
    if (rows.some((row) => row.kid === kid)) return;
    const terms = findNewest(rows)
      ? { signsFromMs: null, verifiesUntilMs: nowMs + lastTokenMs }
      : { signsFromMs: nowMs };
    const about = { by: "service", what: "keys take over", ...ofKeys } as const;
    const add = (transaction: Db) => addKey(transaction, rows, { privateKey, ...terms }, nowMs);
    if (await auditedTransaction(db, about, nowMs, add)) return;
  }
  throw new Error("the issuer's key could not be taken over");
}

/** The private half of a row; `undefined` when no secret of ours opens it. */
export function openKey({ kid, sealed_key }: SigningKeyRow): KeyObject | undefined {
  const pem = unseal("signing-key:v1", kid, sealed_key ?? "");
  return pem === undefined ? undefined : createPrivateKey(pem);
}

/** Seals a row's key with the newest secret where that of before had; not where another instance has just done it. */
export async function resealKey(
  db: Db,
  { kid, sealed_key }: SigningKeyRow,
  privateKey: KeyObject,
): Promise<void> {
  if (isSealedWithCurrentSecret("signing-key:v1", kid, sealed_key ?? "")) return;
  await auditedTransaction(
    db,
    { by: "service", what: "keys seal anew", ...ofKeys },
    Date.now(),
    async (transaction) => {
      await transaction
        .updateTable("signing_keys")
        .set({ sealed_key: sealKey(privateKey) })
        .where("kid", "=", kid)
        .where("sealed_key", "=", sealed_key)
        .execute();
    },
  );
}

/** Bound to its name, so that a row under another name opens nothing. */
function sealKey(privateKey: KeyObject): string {
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return seal("signing-key:v1", describeKey(privateKey).kid, pem);
}

/** What is known of a key from its private half. */
export function describeKey(privateKey: KeyObject): { kid: string; publicKey: KeyObject } {
  const publicKey = createPublicKey(privateKey);
  const hash = createHash("sha256").update(publicKey.export({ type: "spki", format: "der" }));
  return { kid: hash.digest("base64url"), publicKey };
}

/** The key that signs, or will: the one that nothing has retired. */
function findNewest(rows: SigningKeyRow[]): SigningKeyRow | undefined {
  return rows.findLast((row) => row.verifies_until_ms === null);
}

type NewKey = {
  privateKey: KeyObject;
  signsFromMs: number | null;
  verifiesUntilMs?: number;
  /** None names the issuer after this key. */
  issuer?: string | undefined;
};

/** Puts a key in the place after these rows. Answers whether it did: not where another came first. */
async function addKey(
  db: Db,
  rows: SigningKeyRow[],
  { privateKey, signsFromMs, verifiesUntilMs, issuer }: NewKey,
  nowMs: number,
): Promise<boolean> {
  const { kid } = describeKey(privateKey);
  const inserted = await db
    .insertInto("signing_keys")
    .values({
      kid,
      place: (rows.at(-1)?.place ?? 0) + 1,
      issuer: issuer ?? issuerPrefix + kid,
      sealed_key: sealKey(privateKey),
      made_at_ms: nowMs,
      signs_from_ms: signsFromMs,
      verifies_until_ms: verifiesUntilMs ?? null,
      revoked_at_ms: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("kid")
    .executeTakeFirst();
  return inserted !== undefined;
}

function changedMeanwhile(): ApiError {
  return new ApiError("invalid_request", {
    message: "Somebody else changed the keys at the same moment.",
    hint: "See 'keys list', and try again.",
  });
}

/** A new key whose name no command takes for an option. */
async function generatePrivateKey(): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return describeKey(privateKey).kid.startsWith("-") ? generatePrivateKey() : privateKey;
}
