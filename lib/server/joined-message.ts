import { IncomingMessage } from "node:http";
import { areTooSmall, type IncomingBody } from "@/lib/http/body";
import { GrowingBuffer } from "@/lib/http/growing-buffer";

const handedOnAtBytes = 4096;

/**
 * A request whose body waits as bytes. Node's parser makes an object of every chunk, 11,000 of a packet of chunks of one
 * byte, and a stream keeps them until they are read. Here what comes at once is joined, whoever reads it or not.
 */
export class JoinedMessage extends IncomingMessage implements IncomingBody {
  pieces = 0;
  private bytes = 0;
  private joined: GrowingBuffer | undefined;

  override push(piece: Buffer | null): boolean {
    if (piece === null) {
      this.handOn();
      return super.push(null);
    }
    // Whoever reads it has been told by the piece before.
    if (this.hasTooSmallPieces) return false;
    this.pieces++;
    this.bytes += piece.length;
    if (!this.joined) {
      this.joined = new GrowingBuffer();
      // Not in the next tick: the parser lets ticks run between two chunks.
      setImmediate(() => this.handOn());
    }
    this.joined.append(piece);
    if (this.joined.length >= handedOnAtBytes || this.hasTooSmallPieces) return this.handOn();
    return this.readableLength + this.joined.length < this.readableHighWaterMark;
  }

  get hasTooSmallPieces(): boolean {
    return areTooSmall(this.pieces, this.bytes);
  }

  private handOn(): boolean {
    const bytes = this.joined?.bytes;
    this.joined = undefined;
    return bytes ? super.push(bytes) : true;
  }
}
