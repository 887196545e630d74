/**
 * The faults of the primary: it is killed; frozen, and reset as by a watchdog; cut off from the others, but not from the
 * instances; switched over by hand; frozen and thawed a minute later, without a watchdog.
 */
export const faults = ["kill", "freeze", "cut", "switch", "thaw"] as const;
export type Fault = (typeof faults)[number];

/** A primary and a standby on loopback, which exchange their roles. */
export type Pair = {
  /** How it fails over, in a few words. */
  name: string;
  /** A superuser's URL that names both hosts as libpq does. */
  url: string;
  /** Does this to the primary. Resolves as soon as the other server accepts writes. */
  strike: (fault: Fault) => Promise<Struck>;
  /** Whether a write is acknowledged only once it is at both servers. */
  isSynchronous: boolean;
  /** Ends both for good. */
  end: () => void;
};

/** The struck server: the port of the former primary, and the way back to a pair. */
export type Struck = {
  port: number;
  /** Takes the fault away. The pair decides what becomes of the former primary. */
  release: () => Promise<void>;
  /** Waits until both servers are a pair again. False if a thawed primary has broken the pair. */
  restore: () => Promise<boolean>;
};
