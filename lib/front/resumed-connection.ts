import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A connection that was taken from Node's parser, to be read again with these bytes in place of what it had read. */
export class ResumedConnection extends Duplex {
  constructor(
    private readonly socket: Socket,
    bytes: Buffer,
  ) {
    super();
    this.push(bytes);
    socket.on("data", (chunk) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", () => this.push(null));
    socket.once("close", () => this.destroy());
    this.once("error", () => this.destroy());
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  setTimeout(ms: number): void {
    this.socket.setTimeout(ms);
  }

  resetAndDestroy(): void {
    this.socket.resetAndDestroy();
  }

  /** What a socket of Node's has: an end to both directions once all is written. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }
}
