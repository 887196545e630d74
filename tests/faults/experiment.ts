/** A fault that is made to happen to the built service, and what is seen then. */
export type Experiment = {
  /** In a few words: how it stands in the table, and is chosen on the command line. */
  name: string;
  /** Makes the fault and tells what is seen, within a minute. Throws where it could not be made. */
  run: (see: (finding: Finding) => void, world: World) => Promise<void>;
};

export type Finding = {
  what: string;
  /** What was measured, beside what it has to be. */
  figure: string;
  holds: boolean;
};

/** What every experiment may use of this machine. */
export type World = {
  /** A fresh database on a real PostgreSQL. */
  createDatabase: () => Promise<string>;
  /** The port of a real redis-server. */
  redisPort: () => Promise<number>;
};
