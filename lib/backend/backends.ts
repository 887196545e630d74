import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, type JWK } from "jose";
import { plainName } from "@/lib/auth/operators";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

/** What a backend may do: read accounts and entries, or also spend and hold. */
export const permissions = ["read", "spend"] as const;
export type Permission = (typeof permissions)[number];

export type Backend = { id: string; may: Permission[]; keys: BackendKey[]; addedAtMs: number };
type BackendKey = { kid: string; jwk: JWK; addedAtMs: number };

const maxKeys = 2; // so that a key can be replaced while the one before is still in use

type By = { by: Operator };

/** All backends with their keys, newest first, ordered by id. */
export async function listBackends(db: Db): Promise<Backend[]> {
  const [backends, keys] = await Promise.all([
    db.selectFrom("backends").select(["id", "may", "added_at_ms"]).orderBy("id").execute(),
    db
      .selectFrom("backend_keys")
      .select(["kid", "backend_id", "public_key", "added_at_ms"])
      .orderBy("added_at_ms", "desc")
      .orderBy("kid")
      .execute(),
  ]);
  return backends.map(({ id, may, added_at_ms: addedAtMs }) => ({
    id,
    may: permissions.filter((permission) => may.split(",").includes(permission)),
    keys: keys
      .filter(({ backend_id }) => backend_id === id)
      .map(({ kid, public_key, added_at_ms }) => ({
        kid,
        jwk: JSON.parse(public_key),
        addedAtMs: added_at_ms,
      })),
    addedAtMs,
  }));
}

/**
 * Adds a backend with its first key. Throws an {@link ApiError} if there is one with this name, or if it is a key of another.
 *
 * @param publicKey - PEM or JWK; without it a pair is made
 * @returns the private key in PEM if a pair was made: it is stored nowhere
 */
export async function addBackend(
  db: Db,
  { id, may, publicKey, by }: { id: string; may: readonly Permission[]; publicKey?: string | undefined } & By,
  nowMs: number,
): Promise<string | undefined> {
  if (!plainName.test(id))
    throw refused("This is no name of a backend.", "Use up to 40 small letters, digits, dots and hyphens.");
  const { key, privateKey } = takeKey(publicKey);
  await changeBackend(db, { what: "backend add", id, by }, nowMs, async (transaction, known) => {
    if (known)
      throw refused("There is already a backend with this name.", "Rotate its key, or remove it first.");
    await transaction.insertInto("backends").values({ id, may: may.join(), added_at_ms: nowMs }).execute();
    await insertKey(transaction, id, key, nowMs);
  });
  return privateKey;
}

/**
 * Gives a backend a new key. Its key before stays valid next to it, and older ones end. Throws an {@link ApiError} and
 * returns as {@link addBackend} does.
 */
export async function rotateBackend(
  db: Db,
  { id, publicKey, by }: { id: string; publicKey?: string | undefined } & By,
  nowMs: number,
): Promise<string | undefined> {
  const { key, privateKey } = takeKey(publicKey);
  await changeBackend(db, { what: "backend rotate", id, by }, nowMs, async (transaction, known) => {
    const old = requireKnown(known).keys.slice(maxKeys - 1);
    for (const { kid } of old) await transaction.deleteFrom("backend_keys").where("kid", "=", kid).execute();
    await insertKey(transaction, id, key, nowMs);
  });
  return privateKey;
}

/** Removes a backend with its keys; the ledger keeps its name. Throws an {@link ApiError} if there is none. */
export async function removeBackend(db: Db, { id, by }: { id: string } & By, nowMs: number): Promise<void> {
  await changeBackend(db, { what: "backend remove", id, by }, nowMs, async (transaction, known) => {
    requireKnown(known);
    await transaction.deleteFrom("backends").where("id", "=", id).execute();
  });
}

/** Parses a public key, Ed25519 or P-256, in PEM or as a JWK. Returns `undefined` for anything else. */
function parsePublicKey(text: string): KeyObject | undefined {
  try {
    const isJwk = text.trimStart().startsWith("{");
    const key = isJwk ? createPublicKey({ key: JSON.parse(text), format: "jwk" }) : createPublicKey(text);
    const { asymmetricKeyType, asymmetricKeyDetails } = key;
    const isKnown = asymmetricKeyType === "ed25519" || asymmetricKeyDetails?.namedCurve === "prime256v1";
    return isKnown ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text has a private key, which never needs to leave its backend. */
export function isPrivateKey(text: string): boolean {
  try {
    const isJwk = text.trimStart().startsWith("{");
    createPrivateKey(isJwk ? { key: JSON.parse(text), format: "jwk" } : text);
    return true;
  } catch {
    return false;
  }
}

function takeKey(publicKey: string | undefined): { key: KeyObject; privateKey?: string } {
  if (publicKey === undefined) {
    const pair = generateKeyPairSync("ed25519");
    const pem = pair.privateKey.export({ type: "pkcs8", format: "pem" });
    return { key: pair.publicKey, privateKey: String(pem) };
  }
  const key = parsePublicKey(publicKey);
  if (!key || isPrivateKey(publicKey)) {
    throw refused(
      "The file has no public key that can be used here.",
      "Give a public key, Ed25519 or P-256, in PEM or as a JWK, and keep the private one.",
    );
  }
  return { key };
}

async function insertKey(transaction: Db, backend_id: string, key: KeyObject, nowMs: number): Promise<void> {
  const jwk = await exportJWK(key);
  const kid = await calculateJwkThumbprint(jwk);
  const added = await transaction
    .insertInto("backend_keys")
    .values({ kid, backend_id, public_key: JSON.stringify(jwk), added_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning("kid")
    .executeTakeFirst();
  if (!added) throw refused("This key is in use.", "Make another pair for each backend and each rotation.");
}

/** Changes a backend, and records its permissions and the names of its keys. */
function changeBackend<T>(
  db: Db,
  { what, id, by }: { what: string; id: string } & By,
  nowMs: number,
  change: (transaction: Db, known: Backend | undefined) => Promise<T>,
): Promise<T> {
  const find = async (transaction: Db) =>
    (await listBackends(transaction)).find((backend) => backend.id === id);
  const readState = async (transaction: Db) => {
    const backend = await find(transaction);
    return backend && { may: backend.may.join(), keys: backend.keys.map(({ kid }) => kid).join() };
  };
  const about = { by, what, whom: id, readState } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) =>
    change(transaction, await find(transaction)),
  );
}

function requireKnown(backend: Backend | undefined): Backend {
  if (backend) return backend;
  throw new ApiError("not_found", {
    message: "There is no such backend.",
    hint: "It may have been removed: look at the list.",
  });
}

const refused = (message: string, hint: string) => new ApiError("invalid_request", { message, hint });
