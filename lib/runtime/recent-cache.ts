/**
 * A cache of at most `maxEntries`, in two generations, because dropping a whole one is cheaper than evicting key by key.
 * It keeps at least the latest half of that number, but nothing for twice `forMs` after it was set, if anything else is
 * set by then.
 */
export class RecentCache<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();
  private beganAtMs = 0;

  constructor(
    private readonly maxEntries: number,
    private readonly forMs = Number.POSITIVE_INFINITY,
  ) {}

  get(key: string): Value | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: string, value: Value, nowMs = 0): void {
    if (this.young.size >= this.maxEntries / 2 || nowMs - this.beganAtMs >= this.forMs) {
      this.old = this.young;
      this.young = new Map();
      this.beganAtMs = nowMs;
    }
    this.young.set(key, value);
  }
}
