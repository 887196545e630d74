/** A Redis that every instance shares, whichever way it is spoken to. */
export type CounterStore = {
  /** What an operator calls it. */
  readonly name: string;
  /**
   * Runs commands in one go and answers their replies in order: an Error for one that was refused. Throws when there
   * is no answer, or the signal aborts.
   */
  run(commands: readonly string[][], signal: AbortSignal): Promise<unknown[]>;
  /** A Lua script of the counting library as this store takes it. */
  toScript(script: string): string;
};
