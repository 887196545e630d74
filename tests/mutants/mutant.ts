/** A plausible mistake, and the tests that should detect it. */
export type Mutant = {
  file: string;
  mistake: string;
  was: string;
  becomes: string;
  tests: string[];
  /** Set if only pages that Next serves show it, so that a full build is needed. */
  isInPages?: boolean;
};
