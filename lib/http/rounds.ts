import { performance } from "node:perf_hooks";
import { roundBounds } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { findKnownCaller } from "@/lib/http/known-caller";
import type { Circle } from "@/lib/rate-limit/client";
import { RecentCache } from "@/lib/runtime/recent-cache";

const { ms: roundMs, longMs, muchMs, halvedAfterMs, knownForMs, pace, restMs } = roundBounds;

type Sender = { isKnown: boolean; network: Circle; client: Circle };

/** A request that waits, or is in work. */
type Turn = { lane: Lane; network: Circle; begin: () => void; sinceMs: number };

/** The milliseconds of the event loop that each network has had lately. */
class Usage {
  private readonly of = new RecentCache<{ ms: number; atMs: number }>(20_000, 5 * halvedAfterMs);

  at(network: Circle, nowMs: number): number {
    const { ms, atMs } = (typeof network === "string" && this.of.get(network)) || { ms: 0, atMs: nowMs };
    return ms * 2 ** ((atMs - nowMs) / halvedAfterMs);
  }

  add(network: Circle, ms: number, nowMs: number): void {
    if (typeof network !== "string") return;
    this.of.set(network, { ms: this.at(network, nowMs) + ms, atMs: nowMs }, nowMs);
  }
}

/** Requests of one kind. Of the networks that have had least lately, each has a turn, then the next; so do its clients. */
class Lane {
  waiting = 0;
  inWork = 0;
  private restsUntilMs = 0;
  private tookAtMs = 0;
  private readonly levels: Map<Circle, Map<Circle, Turn[]>>[] = [];

  /** @param pace - the milliseconds of the clock that pass for each one of the loop that it has, on average */
  constructor(private readonly pace = 0) {}

  /** Rests after so many milliseconds of the loop, of which none was before `sinceMs`. */
  restAfter(ms: number, sinceMs: number, nowMs: number): void {
    this.restsUntilMs = Math.min(Math.max(this.restsUntilMs, sinceMs) + this.pace * ms, nowMs + restMs);
  }

  /** Whether its next request may begin. Some may always: those in work can have been charged for others' time. */
  mayBegin(nowMs: number): boolean {
    return this.waiting > 0 && nowMs >= Math.min(this.restsUntilMs, this.tookAtMs + restMs);
  }

  add(turn: Turn, client: Circle, level: number): void {
    this.levels[level] ??= new Map();
    const networks = this.levels[level];
    const clients = networks.get(turn.network) ?? new Map<Circle, Turn[]>();
    networks.set(turn.network, clients);
    const turns = clients.get(client);
    if (turns) turns.push(turn);
    else clients.set(client, [turn]);
    this.waiting++;
  }

  take(nowMs: number): Turn | undefined {
    this.tookAtMs = nowMs;
    const networks = this.levels.find((level) => level && level.size > 0);
    if (!networks) return undefined;
    for (const [network, clients] of networks)
      for (const [client, turns] of clients) {
        const next = turns.shift();
        goBehind(clients, client, turns.length);
        goBehind(networks, network, clients.size);
        this.waiting--;
        return next;
      }
    return undefined;
  }
}

/** Moves an entry behind all others of its map, or out of it if nothing is left there. */
function goBehind<Value>(map: Map<Circle, Value>, name: Circle, left: number): void {
  const value = map.get(name) as Value;
  map.delete(name);
  if (left > 0) map.set(name, value);
}

/**
 * Begins requests in rounds, one in each turn of the event loop, and lets them wait once there are more than it can take.
 * libuv accepts one connection a turn (libuv/libuv#3696), so a round takes 2 ms, and begins so many requests that the turn is
 * not much longer. Known callers and strangers go alternately, and of these first those whose network has had least of the
 * loop lately. While known callers ask, strangers leave the loop free for as long as they have used it, and so does a known
 * caller that asks for much.
 */
export class Rounds {
  private readonly known = new Lane();
  private readonly much = new Lane(pace);
  private readonly strangers = new Lane(pace);
  private lanes = [this.known, this.much, this.strangers];
  private readonly usage = new Usage();
  /** What one request in work has had since the start, if all in work at the same time have had equal shares. */
  private shareMs = 0;
  private knownUntilMs = 0;
  private waiting = 0;
  private inWork = 0;
  private done: Turn[] = [];
  private isOpen = false;
  count = 0;
  private beganAtMs = 0;
  private begun = 0;
  private atOnce = 8;
  private seen = { atMs: 0, idleMs: 0 };
  private isTimed = false;

  constructor(
    private readonly nowMs = () => performance.now(),
    private readonly idleMs = () => performance.nodeTiming.idleTime,
  ) {}

  /** Does the work of a request in its turn, which it is given; at once, and with none, if no one waits. */
  run(sender: () => Sender, work: (turn?: Turn) => Promise<void> | undefined): Promise<void> | undefined {
    const waited = this.wait(sender)?.then(async (turn) => {
      this.enter(turn);
      try {
        await work(turn);
      } finally {
        this.leave(turn);
      }
    });
    return waited ?? work();
  }

  /** Waits for another turn of a request that may have had one. It is not in work meanwhile, and has no share of the loop. */
  async again(sender: () => Sender, turn?: Turn): Promise<void> {
    if (turn) this.leave({ ...turn });
    const next = await this.wait(sender);
    if (turn) this.enter(Object.assign(turn, next));
  }

  private enter(turn: Turn): void {
    turn.sinceMs = this.shareMs;
    // From now on its network is behind newcomers, also for the rest of this request.
    this.usage.add(turn.network, 0.01, this.nowMs());
    turn.lane.inWork++;
    this.inWork++;
  }

  /** Its share is known when the turn of the loop ends. */
  private leave(turn: Turn): void {
    this.done.push(turn);
    if (!this.isOpen) this.open();
  }

  /** Waits for a turn; `undefined` if no one has to wait. */
  private wait(sender: () => Sender): Promise<Turn> | undefined {
    if (!this.isOpen) this.open();
    if (this.waiting === 0 && this.hasTime()) return undefined;
    const { isKnown, network, client } = sender();
    const nowMs = this.nowMs();
    if (this.waiting + this.inWork === 0) this.seen = { atMs: nowMs, idleMs: this.idleMs() };
    this.waiting++;
    const usedMs = this.usage.at(network, nowMs);
    const lane = !isKnown ? this.strangers : usedMs > muchMs ? this.much : this.known;
    if (lane === this.known) this.knownUntilMs = nowMs + knownForMs;
    return new Promise((resolve) => {
      const turn = { lane, network, begin: () => resolve(turn), sinceMs: 0 };
      lane.add(turn, client, Math.ceil(Math.log2(1 + usedMs)));
    });
  }

  private hasTime(): boolean {
    return this.begun++ < this.atOnce && this.nowMs() - this.beganAtMs < roundMs;
  }

  private open(): void {
    this.isOpen = true;
    this.count++;
    this.beganAtMs = this.nowMs();
    this.begun = 0;
    setImmediate(() => this.close());
  }

  /** Ends the round, and begins the next one if requests wait. */
  private close(): void {
    this.isOpen = false;
    if (this.waiting + this.inWork === 0) return;
    const tookMs = this.share();
    if (this.waiting === 0) return;
    if (tookMs > longMs) this.atOnce = Math.max(1, this.atOnce >> 1);
    else if (this.begun >= this.atOnce) this.atOnce++;
    void this.goOn();
  }

  /** Shares what the loop has worked since the last round among those in work; some lanes rest for as long. */
  private share(): number {
    const sinceMs = this.seen.atMs;
    const [atMs, idleMs] = [this.nowMs(), this.idleMs()];
    const tookMs = Math.max(0, atMs - sinceMs - (idleMs - this.seen.idleMs));
    this.seen = { atMs, idleMs };
    const eachMs = tookMs / Math.max(1, this.inWork);
    this.shareMs += eachMs;
    if (atMs < this.knownUntilMs)
      for (const lane of this.lanes) lane.restAfter(eachMs * lane.inWork, sinceMs, atMs);
    for (const turn of this.done) {
      turn.lane.inWork--;
      this.inWork--;
      this.usage.add(turn.network, this.shareMs - turn.sinceMs, atMs);
    }
    this.done = [];
    return tookMs;
  }

  private async goOn(): Promise<void> {
    const mayBegin = (lane: Lane) => lane.mayBegin(this.nowMs());
    if (!this.lanes.some(mayBegin)) return this.goOnLater();
    this.open();
    while (this.hasTime()) {
      const lane = this.lanes.find(mayBegin);
      if (!lane) return;
      this.lanes = [...this.lanes.filter((other) => other !== lane), lane];
      this.waiting--;
      lane.take(this.nowMs())?.begin();
      // What the request does at once counts as time of this round.
      await undefined;
    }
  }

  private goOnLater(): void {
    if (this.isTimed) return;
    this.isTimed = true;
    setTimeout(() => {
      this.isTimed = false;
      if (!this.isOpen) this.open();
    }, 1);
  }
}

const rounds = new Rounds();

/** Who sent a call: an account whose credential was valid lately, or on our other ports a peer; otherwise a network. */
const senderOf = (call: Call) => (): Sender => {
  const account = call.site.loggedAs ? call.client.key : findKnownCaller(call.headers);
  if (account) return { isKnown: true, network: account, client: account };
  const network = call.client.network ?? Symbol();
  return { isKnown: false, network, client: call.client.key };
};

const turns = new WeakMap<Call, Turn>();

/** Does the work of a call in its turn at the event loop. */
export function inRound(call: Call, work: () => Promise<void> | undefined): Promise<void> | undefined {
  return rounds.run(senderOf(call), (turn) => {
    if (turn) turns.set(call, turn);
    return work();
  });
}

/** Waits for another turn if this reading has lasted longer than its own: it ends when others decide that the body comes. */
export async function readInRound<Body>(call: Call, reading: Promise<Body>): Promise<Body> {
  const { count } = rounds;
  const body = await reading;
  if (rounds.count !== count) await rounds.again(senderOf(call), turns.get(call));
  return body;
}
