import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { maxTokenSeconds } from "@/lib/auth/tokens/session-token";
import { auditedTransaction } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { type SealedBy, seal, sealedBy, unseal } from "@/lib/runtime/seal";

/** The `iss` of our tokens is this prefix and the hash of the first key, so it does not depend on an address. */
export const issuerPrefix = "urn:corner-office:";

/** The time by which every instance has refreshed its ring. A new key signs only after it. */
export const propagationMs = 60_000; // 1 minute

/** How long a retired key still verifies: until the last token that any instance signed with it has expired. */
const retiredKeyMs = maxTokenSeconds * 1000 + propagationMs;

export type SigningKeyRow = Tables["signing_keys"];

/** All keys, revoked and expired ones too, oldest first. */
export function readSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return db.selectFrom("signing_keys").selectAll().orderBy("place").execute();
}

/** Changes the keys; the audit records when each signs, verifies and was revoked. */
function changeKeys<T>(
  db: Db,
  about: { by: "service" | "operator"; what: string },
  nowMs: number,
  change: (transaction: Db) => Promise<T>,
): Promise<T> {
  const readState = async (transaction: Db) => {
    const keys = transaction.selectFrom("signing_keys").orderBy("place");
    const rows = await keys.select(["kid", "signs_from_ms", "verifies_until_ms", "revoked_at_ms"]).execute();
    return Object.fromEntries(rows.map(({ kid, ...times }) => [kid, times]));
  };
  return auditedTransaction(db, { ...about, whom: null, readState }, nowMs, change);
}

/** Whether this key verifies tokens at `nowMs`. */
export function verifies({ revoked_at_ms, verifies_until_ms }: SigningKeyRow, nowMs: number): boolean {
  return revoked_at_ms === null && (verifies_until_ms === null || nowMs < verifies_until_ms);
}

/** The key that signs at `nowMs`: the last one that has started to, or the newest if this machine's clock is behind. */
export function findSigner(rows: readonly SigningKeyRow[], nowMs: number): SigningKeyRow | undefined {
  const hasBegun = (row: SigningKeyRow) => row.signs_from_ms !== null && row.signs_from_ms <= nowMs;
  return rows.findLast((row) => hasBegun(row) && verifies(row, nowMs)) ?? findNewest(rows);
}

/** Makes the first key, which signs at once. If several instances try at the same time, one succeeds. */
export async function makeFirstKey(db: Db, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await changeKeys(db, { by: "service", what: "keys make" }, nowMs, async (transaction) => {
    const rows = await readSigningKeys(transaction);
    if (!findNewest(rows)) await addKey(transaction, rows, { privateKey, signsFromMs: nowMs }, nowMs);
  });
}

/** Adds a key that signs in a minute. The other keys verify until their last token has expired. */
export async function rotateKeys(db: Db, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await changeKeys(db, { by: "operator", what: "keys rotate" }, nowMs, async (transaction) => {
    const rows = await readSigningKeys(transaction);
    const newest = findNewest(rows);
    const signsFromMs = newest ? nowMs + propagationMs : nowMs;
    const added = { privateKey, signsFromMs, issuer: newest?.issuer };
    if (!(await addKey(transaction, rows, added, nowMs))) throw changedMeanwhile();
    await transaction
      .updateTable("signing_keys")
      .set({ verifies_until_ms: signsFromMs + retiredKeyMs })
      .where("verifies_until_ms", "is", null)
      .where("kid", "!=", keyId(privateKey))
      .execute();
    await transaction
      .updateTable("signing_keys")
      .set({ sealed_key: null })
      .where("verifies_until_ms", "<=", nowMs)
      .execute();
  });
}

/**
 * Revokes a key: its tokens are refused at once, and its private key is deleted. If no key is left to sign, a new one
 * is made that signs at once. Throws an {@link ApiError} if there is no such key.
 */
export async function revokeKey(db: Db, kid: string, nowMs: number): Promise<void> {
  const privateKey = await generatePrivateKey();
  await changeKeys(db, { by: "operator", what: "keys revoke" }, nowMs, async (transaction) => {
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
    const added = { privateKey, signsFromMs: nowMs, issuer: revoked.issuer };
    if (!findNewest(rows) && !(await addKey(transaction, rows, added, nowMs))) throw changedMeanwhile();
  });
}

/** The private key of a row; `undefined` if none of our secrets can decrypt it. */
export function openKey({ kid, sealed_key }: SigningKeyRow): KeyObject | undefined {
  const pem = unseal("signing-key:v1", kid, sealed_key ?? "");
  return pem === undefined ? undefined : createPrivateKey(pem);
}

/** The secret that opens a row's key. */
export function findSecret({ kid, sealed_key }: Pick<SigningKeyRow, "kid" | "sealed_key">): SealedBy {
  return sealedBy("signing-key:v1", kid, sealed_key ?? "");
}

/** How the audit names that a key was sealed with a new secret. */
export const sealedAnew = "keys seal anew";

/** Seals every key that only the previous secret opens with the current one, unless another instance has just done it. */
export async function resealKeys(db: Db): Promise<void> {
  for (const row of await readSigningKeys(db)) {
    const privateKey = findSecret(row) === "previous" && openKey(row);
    if (!privateKey) continue;
    await changeKeys(db, { by: "service", what: sealedAnew }, Date.now(), (transaction) =>
      transaction
        .updateTable("signing_keys")
        .set({ sealed_key: sealKey(privateKey) })
        .where("kid", "=", row.kid)
        .where("sealed_key", "=", row.sealed_key)
        .execute(),
    );
  }
}

/** Seals a key together with its id, so that it cannot be decrypted in the row of another id. */
function sealKey(privateKey: KeyObject): string {
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return seal("signing-key:v1", keyId(privateKey), pem);
}

/** The `kid` of a key: the hash of its public key. */
function keyId(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return createHash("sha256").update(publicKey).digest("base64url");
}

/** The newest key that is not retired: the one that signs, or will sign next. */
function findNewest(rows: readonly SigningKeyRow[]): SigningKeyRow | undefined {
  return rows.findLast((row) => row.verifies_until_ms === null);
}

type NewKey = { privateKey: KeyObject; signsFromMs: number; issuer?: string | undefined };

/** Adds a key after these rows. Returns false if another key was added there first. */
async function addKey(
  db: Db,
  rows: SigningKeyRow[],
  { privateKey, signsFromMs, issuer }: NewKey,
  nowMs: number,
): Promise<boolean> {
  const kid = keyId(privateKey);
  const row = {
    kid,
    place: (rows.at(-1)?.place ?? 0) + 1,
    issuer: issuer ?? issuerPrefix + kid,
    sealed_key: sealKey(privateKey),
    made_at_ms: nowMs,
    signs_from_ms: signsFromMs,
    verifies_until_ms: null,
    revoked_at_ms: null,
  };
  const adding = db.insertInto("signing_keys").values(row);
  return hasRow(adding.onConflict((conflict) => conflict.doNothing()).returning("kid"));
}

function changedMeanwhile(): ApiError {
  return new ApiError("invalid_request", {
    message: "The keys were changed at the same time.",
    hint: "See 'keys list', and try again.",
  });
}

/** Generates a key whose id does not begin with a dash, because commands would take that for an option. */
async function generatePrivateKey(): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return keyId(privateKey).startsWith("-") ? generatePrivateKey() : privateKey;
}
