import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

const flushIntervalMs = 200;
const flushAtCharacters = 16 * 1024;
const retryDelayMs = 10; // before retrying a write to a slow reader
const maxHeldCharacters = 1024 * 1024; // before lines are dropped
const finishTimeoutMs = 500;
const nothing = Buffer.alloc(0);

const standardError = 2;

/**
 * Standard error, written in batches and without blocking, so that the log never delays a request. A slow reader gets
 * its lines later. A stalled reader loses the newest lines and gets their number. A closed reader gets nothing. (With a
 * stalled reader, pino's own destination retries forever, and the process cannot stop.)
 */
export class NonblockingStderr {
  private readonly descriptor = openWithoutBlocking();
  private lines = "";
  private rest: Uint8Array = nothing;
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param toLine - how the line about lost ones is written */
  constructor(private readonly toLine: (line: string) => string) {}

  write(line: string): void {
    if (this.lines.length + line.length > maxHeldCharacters) {
      this.dropped++;
      return;
    }
    this.lines += line;
    if (this.rest.length > 0) return;
    if (this.lines.length >= flushAtCharacters) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), flushIntervalMs).unref();
  }

  /** Flushes for up to half a second, when the process exits. */
  finish(): void {
    const deadlineMs = performance.now() + finishTimeoutMs;
    const bell = new Int32Array(new SharedArrayBuffer(4));
    do this.flush();
    while (this.rest.length > 0 && performance.now() < deadlineMs && Atomics.wait(bell, 0, 0, retryDelayMs));
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
      else this.timer = setTimeout(() => this.flush(), retryDelayMs).unref();
    }
  }

  private takeBatch(): Uint8Array {
    if (this.rest.length > 0) return this.rest;
    const { lines, dropped } = this;
    this.lines = "";
    this.dropped = 0;
    return Buffer.from(dropped > 0 ? lines + this.toLine(describeDrop(dropped)) : lines);
  }
}

function describeDrop(dropped: number): string {
  const msg = "log lines were dropped because their reader was too slow";
  return `${JSON.stringify({ level: "warn", time: Date.now(), dropped, msg })}\n`;
}

/**
 * A file descriptor of standard error whose writes fail with EAGAIN instead of blocking.
 *
 * Pipes and terminals are reopened: all holders of one open file share its blocking mode, and a program that exits may
 * reset it. Where reopening fails, a Node stream makes the inherited pipe non-blocking.
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
    // A socket, a system without /proc, a pipe of another user, or a closed reader.
    if (!kind.isCharacterDevice()) new Socket({ fd: standardError, readable: false });
    return standardError;
  }
}
