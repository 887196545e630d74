import { randomBytes } from "node:crypto";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { type SealedBy, seal, sealedBy, unseal } from "@/lib/runtime/seal";

/*
 * Links in mails work for ever, so their keys are in the store, sealed, and are sealed anew when `APP_SECRET` changes. The
 * newest key makes them.
 */

const purpose = "link-key:v1";

const loaded = new WeakMap<Db, Buffer[]>();

/**
 * The keys of unsubscribe links, oldest first; makes them if there are none. Throws an {@link ApiError} 503 if this process
 * cannot open the keys in the store.
 */
export async function ensureLinkKeys(db: Db): Promise<Buffer[]> {
  const known = loaded.get(db);
  if (known) return known;
  await requireKeys(db);
  if ((await readRows(db)).length === 0) await makeKey(db);
  const rows = await readRows(db);
  const keys = rows.map(({ id, sealed_key }) =>
    Buffer.from(unseal(purpose, id, sealed_key) ?? "", "base64url"),
  );
  loaded.set(db, keys);
  await sealAnew(db, rows);
  return keys;
}

/** The key that makes the links of mails. */
export async function findLinkKey(db: Db): Promise<Buffer> {
  return (await ensureLinkKeys(db)).at(-1) as Buffer;
}

const heldUntilMs = new WeakMap<Db, number>();
const heldMs = 20_000; // 20 seconds: as often as the signing keys are read

/**
 * Throws an {@link ApiError} 503 if this process cannot open the keys in the store, because its `APP_SECRET` is not the
 * one that sealed them. Such a process sends no mail.
 */
export async function requireKeys(db: Db): Promise<void> {
  if (performance.now() < (heldUntilMs.get(db) ?? 0)) return;
  const signer = await db
    .selectFrom("signing_keys")
    .select(["kid", "sealed_key"])
    .where("verifies_until_ms", "is", null)
    .orderBy("place", "desc")
    .executeTakeFirst();
  const isHeld = !signer || sealedBy("signing-key:v1", signer.kid, signer.sealed_key ?? "") !== undefined;
  if (!isHeld || (await listLinkKeys(db)).some(({ by }) => by === undefined)) {
    throw new ApiError("unavailable", {
      message: "The keys in the store were encrypted with another APP_SECRET than this process has.",
      hint: "No mail is sent. Set the server's APP_SECRET here, or the one before as APP_SECRET_PREVIOUS.",
    });
  }
  heldUntilMs.set(db, performance.now() + heldMs);
}

/** Which of our secrets opens each key of unsubscribe links. */
export async function listLinkKeys(db: Db): Promise<{ id: string; by: SealedBy }[]> {
  const rows = await readRows(db);
  return rows.map(({ id, sealed_key }) => ({ id, by: sealedBy(purpose, id, sealed_key) }));
}

const readRows = (db: Db) => db.selectFrom("link_keys").selectAll().orderBy("makes_from_ms").execute();

/** Makes the first key. If several processes try at the same time, it is that of one. */
async function makeKey(db: Db): Promise<void> {
  const [id, key] = ["random", randomBytes(32).toString("base64url")];
  await db
    .insertInto("link_keys")
    .values({ id, sealed_key: seal(purpose, id, key), makes_from_ms: Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Seals keys with the current secret, unless they are already or another process has just done it. */
async function sealAnew(db: Db, rows: Tables["link_keys"][]): Promise<void> {
  for (const { id, sealed_key } of rows) {
    if (sealedBy(purpose, id, sealed_key) !== "previous") continue;
    await db
      .updateTable("link_keys")
      .set({ sealed_key: seal(purpose, id, unseal(purpose, id, sealed_key) ?? "") })
      .where("id", "=", id)
      .where("sealed_key", "=", sealed_key)
      .execute();
  }
}
