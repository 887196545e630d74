import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A connection that goes on where Node's parser gave up: it reads other bytes first, and has a parser of its own. */
export class ResumedConnection extends Duplex {
  /** @param first - read in place of what was received last */
  constructor(
    readonly original: Socket,
    first: Buffer,
  ) {
    super();
    this.push(first);
    original.once("close", () => this.destroy()).on("error", () => this.destroy());
    // Node begins to read a paused socket again at this event, if its parser still has it.
    if (original.isPaused()) original.once("resume", () => this.takeOver());
    else this.takeOver();
  }

  private takeOver(): void {
    const { original } = this;
    original.removeAllListeners("data").removeAllListeners("end");
    original.on("data", (chunk: Buffer) => this.push(chunk) || original.pause());
    original.once("end", () => this.push(null));
  }

  get remoteAddress(): string | undefined {
    return this.original.remoteAddress;
  }

  get bytesWritten(): number {
    return this.original.bytesWritten;
  }

  resetAndDestroy(): void {
    this.original.resetAndDestroy();
  }

  override _read(): void {
    this.original.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (failure?: Error | null) => void): void {
    this.original.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.original.end(done);
  }

  override _destroy(failure: Error | null, done: (failure: Error | null) => void): void {
    this.original.destroy();
    done(failure);
  }
}
