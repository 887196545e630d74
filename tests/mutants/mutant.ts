/** A mistake that somebody might make, and the tests that are to notice it. */
export type Mutant = {
  file: string;
  mistake: string;
  was: string;
  becomes: string;
  tests: string[];
  /** Only what Next serves shows it, so that all has to be built again. */
  isInPages?: boolean;
};
