/** A fault injected into the built service, and its observed effects. */
export type Experiment = {
  /** A short name, shown in the table and selected on the command line. */
  name: string;
  /** Causes the fault and reports the findings, within a minute. Throws if the fault cannot be caused. */
  run: (see: (finding: Finding) => void, world: World) => Promise<void>;
};

export type Finding = {
  what: string;
  /** The measurement and its requirement. */
  figure: string;
  holds: boolean;
};

/** Services of this machine for the experiments. */
export type World = {
  /** A fresh database on a real PostgreSQL. */
  createDatabase: () => Promise<string>;
  /** The port of a real redis-server. */
  redisPort: () => Promise<number>;
};
