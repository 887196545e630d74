/**
 * A cache of at most `maxEntries`. It keeps at least the latest half of that number in two
 * generations, because dropping a whole generation is cheaper than evicting key by key.
 */
export class RecentCache<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();

  constructor(private readonly maxEntries: number) {}

  get(key: string): Value | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: string, value: Value): void {
    if (this.young.size >= this.maxEntries / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }
}
