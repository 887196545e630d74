import { setTimeout as sleep } from "node:timers/promises";
import { openPostgres, setReadOnly } from "@/tests/support/stores";

/**
 * The faults of the primary: it is killed; frozen, and reset as by a watchdog; cut off from the others, but not from the
 * instances; switched over by hand; frozen and thawed a minute later, without a watchdog; killed when its standby has
 * received nothing for 30 seconds, with asynchronous replication.
 */
export const faults = ["kill", "freeze", "cut", "switch", "thaw", "late"] as const;
/**
 * The faults in which no host accepts writes, and accounts are read: etcd is frozen for 50 seconds, so that Patroni makes
 * both servers standbys; the primary is made read-only for 30, as managed services do when a disk is full.
 */
export const pauses = ["etcd", "full"] as const;
export type Fault = (typeof faults)[number] | (typeof pauses)[number];

/** A primary and a standby on loopback, which exchange their roles. */
export type Pair = {
  /** How it fails over, in a few words. */
  name: string;
  /** A superuser's URL that names both hosts as libpq does. */
  url: string;
  /** The faults that can be done to it. */
  faults: readonly Fault[];
  /** Does this to the primary. Resolves as soon as the other server accepts writes, or after a pause any of them. */
  strike: (fault: Fault) => Promise<Struck>;
  /** Whether a write is acknowledged only once it is at both servers. */
  isSynchronous: boolean;
  /** Ends both for good. */
  end: () => void;
};

const fullForMs = 30_000; // 30 seconds
/** Until the standby has missed so much of what was written, if it is late. */
export const lateByMs = 30_000; // 30 seconds

/** Makes a primary read-only for a while. */
export async function fillDisk(url: string): Promise<void> {
  const { query, close } = openPostgres(url);
  await setReadOnly(query, true);
  await sleep(fullForMs);
  await setReadOnly(query, false);
  await close();
}

/** The struck server: the port of the former primary if there is another now, and the way back to a pair. */
export type Struck = {
  port: number | undefined;
  /** Takes the fault away. The pair decides what becomes of the former primary. */
  release: () => Promise<void>;
  /** Waits until both servers are a pair again. False if a thawed primary has broken the pair. */
  restore: () => Promise<boolean>;
};
