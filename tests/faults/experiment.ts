/** A fault injected into the built service, and its observed effects. */
export type Experiment = {
  /** A short name, shown in the table and selected on the command line. */
  name: string;
  /** Causes the fault and reports the findings, within two minutes. Throws if the fault cannot be caused. */
  run: (see: (finding: Finding) => void) => Promise<void>;
};

export type Finding = {
  what: string;
  /** The measurement and its requirement. */
  figure: string;
  holds: boolean;
};
