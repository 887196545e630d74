import { createPrivateKey, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  describeKey,
  findSigner,
  followsWithinMs,
  importKey,
  makeFirstKey,
  openKey,
  readSigningKeys,
  resealKey,
  type SigningKeyRow,
  verifies,
} from "@/lib/auth/signing-keys";
import { settings } from "@/lib/config/settings";
import { type Db, queryTimeoutMs, store } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** A key of the ring that verifies. */
export type RingKey = { kid: string; issuer: string; publicKey: KeyObject; privateKey: KeyObject };

/** A row of the ring; its key is none when no secret of ours opens it. */
type Entry = { row: SigningKeyRow; key: RingKey | undefined };

const readEveryMs = 20_000; // 20 seconds: a third of the minute within which every instance follows

/** The ring of this process. */
export function keyRing(): KeyRing {
  return processSingleton("key ring", () => new KeyRing());
}

/**
 * This process's copy of the ring of signing keys in the store. It is read anew while it is used, off the request's
 * path, and at once for a name it does not know: those reads are a second apart, whatever strangers make up, and
 * who asks waits for one that begins later. A key once read goes on verifying while the store is away.
 */
export class KeyRing {
  private entries: ReadonlyMap<string, Entry> | undefined;
  private readAtMs = 0;
  private triedAtMs = 0;
  private pause: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private hasTakenOver = false;

  /**
   * @param open - opens the store
   * @param findFileKey - finds the key that a build before the ring kept in `DATA_DIR`
   * @param pauseMs - between two reads for names that nobody here knows
   */
  constructor(
    private readonly open: () => Promise<Db> = store,
    private readonly findFileKey: () => KeyObject | undefined = readFileKey,
    private readonly pauseMs = 1000,
  ) {}

  /** The key of this name, while it verifies. Throws when nobody can tell: that is an outage, and no refusal. */
  async find(kid: string, nowMs: number): Promise<RingKey | undefined> {
    if (!this.entries?.has(kid)) await this.scheduleRefresh(nowMs);
    this.refreshInBackground(nowMs);
    const entry = this.entries?.get(kid);
    if (!entry || !verifies(entry.row, nowMs)) return undefined;
    if (entry.key) return entry.key;
    throw new Error(`the signing key ${kid} cannot be opened: see 'admin keys list'`);
  }

  /** Whether the key of this name verifies, by what this process knows. */
  knows(kid: string, nowMs: number): boolean {
    this.refreshInBackground(nowMs);
    const entry = this.entries?.get(kid);
    return entry !== undefined && verifies(entry.row, nowMs);
  }

  /** The key that signs, made where there is none yet. Throws when the store is away. */
  async signing(nowMs: number): Promise<RingKey> {
    if (!this.entries || Math.abs(nowMs - this.readAtMs) > followsWithinMs) await this.refresh(nowMs);
    if (!this.signer(nowMs)) {
      await makeFirstKey(await this.open(), nowMs);
      await this.refresh(nowMs);
    }
    this.refreshInBackground(nowMs);
    const signer = this.signer(nowMs);
    if (signer?.key) return signer.key;
    throw new Error("the key that signs cannot be opened: see 'admin keys list'");
  }

  /** Every key that verifies, as it is published. Throws when nobody can tell. */
  async published(nowMs: number): Promise<RingKey[]> {
    if (!this.entries) await this.scheduleRefresh(nowMs);
    this.refreshInBackground(nowMs);
    return [...(this.entries?.values() ?? [])].flatMap(({ row, key }) =>
      key && verifies(row, nowMs) ? [key] : [],
    );
  }

  /** Reads the ring anew, without anybody waiting, when it is time to. */
  refreshInBackground(nowMs: number, everyMs = readEveryMs): void {
    // A clock that was set back must not keep the ring from being read.
    if (Math.abs(nowMs - this.triedAtMs) < everyMs) return;
    this.triedAtMs = nowMs;
    this.refresh(nowMs).catch((failure) =>
      log().warn({ err: failure }, "the signing keys could not be read anew"),
    );
  }

  /** A read that begins from now on, shared by all who ask before it does. */
  private scheduleRefresh(nowMs: number): Promise<void> {
    this.next ??= this.pause.then(() => {
      this.next = undefined;
      this.pause = sleep(this.pauseMs, undefined, { ref: false });
      return this.refresh(nowMs);
    });
    return this.next;
  }

  private refresh(nowMs: number): Promise<void> {
    this.triedAtMs = nowMs;
    return withTimeout(queryTimeoutMs, this.read(nowMs));
  }

  private async read(nowMs: number): Promise<void> {
    const db = await this.open();
    if (!this.hasTakenOver) {
      const fileKey = this.findFileKey();
      if (fileKey) await importKey(db, fileKey, nowMs);
      this.hasTakenOver = true;
    }
    const rows = await readSigningKeys(db);
    this.entries = new Map(rows.map((row) => [row.kid, this.add(db, row)]));
    this.readAtMs = nowMs;
  }

  /** A key that was opened before stays so, while an instance with a newer secret has sealed it anew. */
  private add(db: Db, row: SigningKeyRow): Entry {
    const known = this.entries?.get(row.kid);
    if (!row.sealed_key || known?.row.sealed_key === row.sealed_key) return { row, key: known?.key };
    const privateKey = openKey(row);
    if (!privateKey) return { row, key: known?.key };
    resealKey(db, row, privateKey).catch((failure) =>
      log().warn({ err: failure }, "a signing key could not be sealed anew"),
    );
    const { publicKey } = describeKey(privateKey);
    return { row, key: { kid: row.kid, issuer: row.issuer, publicKey, privateKey } };
  }

  private signer(nowMs: number): Entry | undefined {
    const rows = [...(this.entries?.values() ?? [])].map(({ row }) => row);
    return this.entries?.get(findSigner(rows, nowMs)?.kid ?? "");
  }
}

/**
 * Where the local issuer's key lay before there was a ring. The file stays, for a build from before to go back to; one
 * that is damaged may have been taken over long ago, so it is left alone.
 */
function readFileKey(): KeyObject | undefined {
  const { signIn, dataDir } = settings();
  const file = join(dataDir, "issuer-key.pem");
  if (signIn.kind !== "local" || !existsSync(file)) return undefined;
  try {
    return createPrivateKey(readFileSync(file, "utf8"));
  } catch (failure) {
    log().warn({ err: failure }, "issuer-key.pem in DATA_DIR cannot be read, and was not taken over");
    return undefined;
  }
}
