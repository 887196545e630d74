import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  describeKey,
  findSigner,
  makeFirstKey,
  openKey,
  propagationMs,
  readSigningKeys,
  resealKey,
  type SigningKeyRow,
  verifies,
} from "@/lib/auth/signing-keys";
import { type Db, queryTimeoutMs, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** A key of the ring that can verify. */
export type RingKey = { kid: string; issuer: string; publicKey: KeyObject; privateKey: KeyObject };

/** A row of the ring. Its key is `undefined` if none of our secrets can decrypt it. */
type Entry = { row: SigningKeyRow; key: RingKey | undefined };

/** The key that signs. Throws an {@link ApiError} 503 if none can be read or opened. */
export async function requireSigningKey(nowMs: number): Promise<RingKey> {
  try {
    return await keyRing().signing(nowMs);
  } catch (failure) {
    log().error({ err: failure }, "no token can be signed");
    throw new ApiError("unavailable");
  }
}

const readEveryMs = 20_000; // 20 seconds: a third of the minute within which every instance has the new ring

/** The key ring of this process. */
export function keyRing(): KeyRing {
  return processSingleton("key ring", () => new KeyRing());
}

/**
 * This process's copy of the signing keys in the store. It is refreshed in the background while it is used, and at once
 * for an unknown key id. Those refreshes are at least a second apart, however many key ids are made up, and each caller
 * waits for one that begins after the call. A key that was read keeps verifying while the store is unavailable.
 */
export class KeyRing {
  private entries: ReadonlyMap<string, Entry> | undefined;
  private readAtMs = 0;
  private triedAtMs = 0;
  private pause: Promise<void> = Promise.resolve();
  private scheduled: Promise<void> | undefined;

  /**
   * @param open - opens the store
   * @param pauseMs - the minimum time between two refreshes for unknown key ids
   */
  constructor(
    private readonly open: () => Promise<Db> = store,
    private readonly pauseMs = 1000,
  ) {}

  /** The key of this id, if it verifies. Throws if the ring cannot be read: an outage must not look like a refusal. */
  async find(kid: string, nowMs: number): Promise<RingKey | undefined> {
    if (!this.entries?.has(kid)) await this.scheduleRefresh(nowMs);
    this.refreshInBackground(nowMs);
    const entry = this.entries?.get(kid);
    if (!entry || !verifies(entry.row, nowMs)) return undefined;
    if (entry.key) return entry.key;
    throw new Error(`the signing key ${kid} cannot be opened: see 'admin keys list'`);
  }

  /** Whether the key of this id verifies, judged by this process's copy. */
  knows(kid: string, nowMs: number): boolean {
    this.refreshInBackground(nowMs);
    const entry = this.entries?.get(kid);
    return entry !== undefined && verifies(entry.row, nowMs);
  }

  /** The key that signs; makes the first one if there is none. Throws if the store is unavailable. */
  async signing(nowMs: number): Promise<RingKey> {
    if (!this.entries || Math.abs(nowMs - this.readAtMs) > propagationMs) await this.refresh(nowMs);
    if (!this.signer(nowMs)) {
      await makeFirstKey(await this.open(), nowMs);
      await this.refresh(nowMs);
    }
    this.refreshInBackground(nowMs);
    const signer = this.signer(nowMs);
    if (signer?.key) return signer.key;
    throw new Error("the key that signs cannot be opened: see 'admin keys list'");
  }

  /** Every key that verifies, for publication. Throws if the ring cannot be read. */
  async published(nowMs: number): Promise<RingKey[]> {
    if (!this.entries) await this.scheduleRefresh(nowMs);
    this.refreshInBackground(nowMs);
    return [...(this.entries?.values() ?? [])].flatMap(({ row, key }) =>
      key && verifies(row, nowMs) ? [key] : [],
    );
  }

  /** Refreshes the ring if the last attempt is more than `everyMs` ago. The caller does not wait. */
  refreshInBackground(nowMs: number, everyMs = readEveryMs): void {
    // The absolute value keeps refreshes going after the clock was set back.
    if (Math.abs(nowMs - this.triedAtMs) < everyMs) return;
    this.triedAtMs = nowMs;
    this.refresh(nowMs).catch((failure) =>
      log().warn({ err: failure }, "the signing keys could not be refreshed"),
    );
  }

  /** Schedules a refresh; all calls before it begins share it. */
  private scheduleRefresh(nowMs: number): Promise<void> {
    this.scheduled ??= this.pause.then(() => {
      this.scheduled = undefined;
      this.pause = sleep(this.pauseMs, undefined, { ref: false });
      return this.refresh(nowMs);
    });
    return this.scheduled;
  }

  private refresh(nowMs: number): Promise<void> {
    this.triedAtMs = nowMs;
    return withTimeout(queryTimeoutMs, this.read(nowMs));
  }

  private async read(nowMs: number): Promise<void> {
    const db = await this.open();
    const rows = await readSigningKeys(db);
    this.entries = new Map(rows.map((row) => [row.kid, this.toEntry(db, row)]));
    this.readAtMs = nowMs;
  }

  /** Keeps a key that is already decrypted, even if an instance with a newer secret has resealed its row since. */
  private toEntry(db: Db, row: SigningKeyRow): Entry {
    const known = this.entries?.get(row.kid);
    if (!row.sealed_key || known?.row.sealed_key === row.sealed_key) return { row, key: known?.key };
    const privateKey = openKey(row);
    if (!privateKey) return { row, key: known?.key };
    resealKey(db, row, privateKey).catch((failure) =>
      log().warn({ err: failure }, "a signing key could not be encrypted with the current APP_SECRET"),
    );
    const { publicKey } = describeKey(privateKey);
    return { row, key: { kid: row.kid, issuer: row.issuer, publicKey, privateKey } };
  }

  private signer(nowMs: number): Entry | undefined {
    const rows = [...(this.entries?.values() ?? [])].map(({ row }) => row);
    return this.entries?.get(findSigner(rows, nowMs)?.kid ?? "");
  }
}
