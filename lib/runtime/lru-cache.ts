/**
 * A bounded memory of recent things. It keeps between half of `most` and `most` of those that were set last, in
 * two generations: dropping one is cheaper than evicting key by key.
 */
export class LruCache<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();

  constructor(private readonly most: number) {}

  get(key: string): Value | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: string, value: Value): void {
    if (this.young.size >= this.most / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }
}
