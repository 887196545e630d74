import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

const flushEveryMs = 200;
const flushAtCharacters = 16 * 1024;
const lookAgainMs = 10; // whether a reader who was behind has read on
const maxHeldCharacters = 1024 * 1024; // what a reader may be behind before lines are dropped
const finishWithinMs = 500;
const nothing = Buffer.alloc(0);

const standardError = 2;

/**
 * Standard error, written in batches and never waited for: the log must not hold up the service. A reader that is
 * slow gets its lines later, one that stalls loses the newest and is told how many, and one that went away gets none.
 * (With a stalled reader, pino's own destination tries again for ever, and a process that is told to stop never ends.)
 */
export class NonblockingStderr {
  private readonly descriptor = openWithoutBlocking();
  private lines = "";
  /** What a batch is written from: to make one anew each time takes longer than to fill it. */
  private readonly batch = Buffer.allocUnsafeSlow(64 * 1024);
  /** The rest of a batch of which the reader took a part. */
  private rest: Uint8Array = nothing;
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined;

  write(line: string): void {
    if (this.lines.length + line.length > maxHeldCharacters) {
      this.dropped++;
      return;
    }
    this.lines += line;
    if (this.rest.length > 0) return;
    if (this.lines.length >= flushAtCharacters) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), flushEveryMs).unref();
  }

  /** Writes what the reader still takes within half a second: for the end of the process. */
  finish(): void {
    const giveUpAtMs = performance.now() + finishWithinMs;
    const bell = new Int32Array(new SharedArrayBuffer(4));
    do this.flush();
    while (this.rest.length > 0 && performance.now() < giveUpAtMs && Atomics.wait(bell, 0, 0, lookAgainMs));
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      for (let batch = this.takeBatch(); batch.length > 0; batch = this.takeBatch()) {
        this.rest = batch;
        this.rest = batch.subarray(writeSync(this.descriptor, batch));
      }
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== "EAGAIN") this.rest = nothing;
      else this.timer = setTimeout(() => this.flush(), lookAgainMs).unref();
    }
  }

  private takeBatch(): Uint8Array {
    if (this.rest.length > 0) return this.rest;
    const { lines, dropped } = this;
    this.lines = "";
    this.dropped = 0;
    const text = dropped > 0 ? lines + describeDrop(dropped) : lines;
    const maxBytes = 3 * text.length; // in UTF-8
    return maxBytes > this.batch.length ? Buffer.from(text) : this.batch.subarray(0, this.batch.write(text));
  }
}

/** The line that stands where others are missing, in the shape of the rest. */
function describeDrop(dropped: number): string {
  const msg = "the reader of the log was too far behind: lines were dropped";
  return `${JSON.stringify({ level: "warn", time: Date.now(), dropped, msg })}\n`;
}

/**
 * A descriptor of standard error whose writes fail with EAGAIN where they would wait.
 *
 * A pipe and a terminal are opened anew, because whether they block is shared by everyone who holds the same opening,
 * and a program that ends may set it back. Where that cannot be, a stream of Node's does it to the pipe we got.
 */
function openWithoutBlocking(): number {
  const kind = fstatSync(standardError);
  if (kind.isFile()) return standardError;
  try {
    return openSync(
      `/proc/self/fd/${standardError}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A socket, no such folder on this system, a pipe of somebody else's, or a reader that is gone already.
    if (!kind.isCharacterDevice()) new Socket({ fd: standardError, readable: false });
    return standardError;
  }
}
