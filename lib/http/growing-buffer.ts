const minBytes = 1024;

/** Collects pieces of bytes in one buffer that doubles. Each piece kept as an object would cost hundreds of bytes. */
export class GrowingBuffer {
  length = 0;
  private space: Uint8Array = new Uint8Array();

  /** @param maxBytes - the maximum size; the caller must not append more */
  constructor(private readonly maxBytes = Number.POSITIVE_INFINITY) {}

  append(piece: Uint8Array): void {
    const length = this.length + piece.byteLength;
    // Most bodies are a single piece, which needs no copy.
    if (this.length === 0) this.space = piece;
    else {
      if (length > this.space.length) this.grow(length);
      this.space.set(piece, this.length);
    }
    this.length = length;
  }

  /** The bytes so far, without a copy. */
  get bytes(): Buffer {
    return Buffer.from(this.space.buffer, this.space.byteOffset, this.length);
  }

  private grow(neededBytes: number): void {
    const doubled = Math.min(this.maxBytes, 2 * this.space.length);
    const larger = Buffer.allocUnsafeSlow(Math.max(minBytes, doubled, neededBytes));
    larger.set(this.bytes);
    this.space = larger;
  }
}
