import { createPublicKey, type KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  findSigner,
  makeFirstKey,
  openKey,
  propagationMs,
  readSigningKeys,
  type SigningKeyRow,
  verifies,
} from "@/lib/auth/keys/signing-keys";
import { answersWithinMs } from "@/lib/config/limits";
import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** A key of the ring that can verify. */
export type RingKey = { kid: string; issuer: string; publicKey: KeyObject; privateKey: KeyObject };

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
export const keyRing = perProcess("key ring", () => new KeyRing());

/**
 * This process's copy of the signing keys in the store. It is refreshed in the background while it is used, and at once
 * for an unknown key id. Those refreshes are at least a second apart, however many key ids are made up, and each caller
 * waits for one that begins after the call. A key that was read keeps verifying while the store is unavailable.
 */
export class KeyRing {
  private rows: readonly SigningKeyRow[] = [];
  private readonly opened = new Map<string, RingKey>();
  private readAtMs = 0;
  private triedAtMs = 0;
  /** How many readings have begun, and which of them the rows are from. */
  private begun = 0;
  private kept = 0;
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
    if (!this.row(kid)) await this.scheduleRefresh(nowMs);
    return this.knows(kid, nowMs) ? this.requireKey(this.row(kid)) : undefined;
  }

  /** Whether the key of this id verifies, judged by this process's copy. */
  knows(kid: string, nowMs: number): boolean {
    this.refreshInBackground(nowMs);
    const row = this.row(kid);
    return row !== undefined && verifies(row, nowMs);
  }

  /** The key that signs; makes the first one if there is none. Throws if the store is unavailable. */
  async signing(nowMs: number): Promise<RingKey> {
    if (Math.abs(nowMs - this.readAtMs) >= propagationMs) await this.refresh(nowMs);
    if (!findSigner(this.rows, nowMs)) {
      await makeFirstKey(await this.open(), nowMs);
      await this.refresh(nowMs);
    }
    this.refreshInBackground(nowMs);
    return this.requireKey(findSigner(this.rows, nowMs));
  }

  /** Every key that verifies, for publication. Throws if the ring cannot be read. */
  async published(nowMs: number): Promise<RingKey[]> {
    if (this.rows.length === 0) await this.scheduleRefresh(nowMs);
    this.refreshInBackground(nowMs);
    return this.rows.flatMap((row) => (verifies(row, nowMs) && this.key(row)) || []);
  }

  /** Refreshes the ring if the last attempt is more than `everyMs` ago. The caller does not wait. */
  refreshInBackground(nowMs: number, everyMs = readEveryMs): void {
    // The absolute value keeps refreshes going after the clock was set back.
    if (Math.abs(nowMs - this.triedAtMs) < everyMs) return;
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
    const place = ++this.begun;
    const reading = this.open().then(readSigningKeys);
    return withTimeout(answersWithinMs.store, reading).then((rows) => {
      // An earlier reading that answers later may still have a key that was revoked since.
      if (place < this.kept) return;
      this.kept = place;
      this.rows = rows;
      this.readAtMs = nowMs;
    });
  }

  private row(kid: string): SigningKeyRow | undefined {
    return this.rows.find((row) => row.kid === kid);
  }

  /** Keeps a key that it has opened, even if an instance with a newer secret seals its row anew. */
  private key(row: SigningKeyRow): RingKey | undefined {
    const { kid, issuer } = row;
    const privateKey = this.opened.has(kid) ? undefined : openKey(row);
    if (privateKey) this.opened.set(kid, { kid, issuer, publicKey: createPublicKey(privateKey), privateKey });
    return this.opened.get(kid);
  }

  private requireKey(row: SigningKeyRow | undefined): RingKey {
    const key = row && this.key(row);
    if (key) return key;
    throw new Error(`the signing key ${row?.kid} cannot be opened: see 'admin keys list'`);
  }
}
