import { IncomingMessage } from "node:http";
import { areTooSmall } from "@/lib/http/checks/body";
import { GrowingBuffer } from "@/lib/http/growing-buffer";
import { isPipelineFull } from "@/lib/server/pipeline";

const flushAtBytes = 4096;

/**
 * A request that joins the chunks of its body as they arrive. Node makes an object of every chunk, 11,000 per packet of
 * one-byte chunks, and would keep them until they are read.
 */
export class JoinedMessage extends IncomingMessage {
  pieces = 0;
  private bytes = 0;
  private joined: GrowingBuffer | undefined;
  private readonly isBeyondPipeline = isPipelineFull(this.socket);
  private bodyFollows: boolean | undefined;

  /** Whether a body follows the headers (RFC 9112 §6.3). */
  get hasBody(): boolean {
    this.bodyFollows ??=
      this.headers["transfer-encoding"] !== undefined || Number(this.headers["content-length"] ?? 0) > 0;
    return this.bodyFollows;
  }

  /**
   * Node stops at a request that upgrades its connection, and parses nothing behind it: here CONNECT, and what comes when
   * the pipeline is full, however much of it one read brings. No other upgrade is granted.
   */
  get upgrade(): boolean {
    return this.isBeyondPipeline || this.method === "CONNECT";
  }

  set upgrade(_asked: boolean) {}

  override push(piece: Buffer | null): boolean {
    if (piece === null) {
      this.flush();
      return super.push(null);
    }
    // The reader was told with the piece before.
    if (this.hasTooSmallPieces) return false;
    this.pieces++;
    this.bytes += piece.length;
    if (!this.joined) {
      this.joined = new GrowingBuffer();
      // Not `nextTick`: the parser runs ticks between two chunks.
      setImmediate(() => this.flush());
    }
    this.joined.append(piece);
    if (this.joined.length >= flushAtBytes || this.hasTooSmallPieces) return this.flush();
    return this.readableLength + this.joined.length < this.readableHighWaterMark;
  }

  get hasTooSmallPieces(): boolean {
    return areTooSmall(this.pieces, this.bytes);
  }

  private flush(): boolean {
    const bytes = this.joined?.bytes;
    this.joined = undefined;
    return bytes ? super.push(bytes) : true;
  }
}
