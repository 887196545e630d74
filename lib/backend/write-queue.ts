import { maxWritesAtOnce } from "@/lib/config/limits";

/** The requests of one backend that wait, oldest first. */
type Line<Request> = { requests: { request: Request; writes: number; turn: number }[]; writes: number };

/**
 * Requests that wait until they are written. Backends share their transactions by the number of their writes, and not by who
 * has sent most (start-time fair queuing): a request's turn is after as many writes as its own backend has before it.
 */
export class WriteQueue<Request> {
  private readonly lines = new Map<string, Line<Request>>();
  /** How many writes wait. */
  writes = 0;
  /** The latest turn that was taken. */
  private turn = 0;

  /** @param most - how many writes wait; beyond them only a backend may add some that has less than its share of these */
  constructor(private readonly most: number) {}

  /** Adds a request of so many writes. Returns whether it may wait. */
  add(backend: string, writes: number, request: Request): boolean {
    const line = this.lines.get(backend) ?? { requests: [], writes: 0 };
    this.lines.set(backend, line);
    if (this.writes >= this.most && line.writes >= this.most / this.lines.size) return false;
    const before = line.requests.at(-1)?.turn ?? this.turn;
    line.requests.push({ request, writes, turn: Math.max(before, this.turn) + writes });
    this.count(line, writes);
    return true;
  }

  /** Takes the next requests, up to the one with which they have as many writes as one transaction should. */
  take(): Request[] {
    const taken: Request[] = [];
    let room = maxWritesAtOnce;
    for (let next = this.next(); next && room > 0; next = this.next()) {
      const { backend, line, first } = next;
      line.requests.shift();
      if (line.requests.length === 0) this.lines.delete(backend);
      this.count(line, -first.writes);
      this.turn = Math.max(this.turn, first.turn);
      room -= first.writes;
      taken.push(first.request);
    }
    return taken;
  }

  private next() {
    const firsts = [...this.lines].flatMap(([backend, line]) => {
      const [first] = line.requests;
      return first ? { backend, line, first } : [];
    });
    return firsts.sort((one, other) => one.first.turn - other.first.turn)[0];
  }

  private count(line: Line<Request>, writes: number): void {
    line.writes += writes;
    this.writes += writes;
  }
}
