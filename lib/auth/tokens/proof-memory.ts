import * as z from "zod";
import { answersWithinMs, proofBounds } from "@/lib/config/limits";
import { perProcess } from "@/lib/per-process";
import { type CounterStore, withinDeadline } from "@/lib/rate-limit/counter-store";
import { counterStore } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

/*
 * The proofs of possession that were used lately, each of which counts once (RFC 9449 §11.1). Only who has a valid token and
 * its key can add to them. Each owner has a share: when that is full, the older half is forgotten, and the owner's proofs
 * from before then are refused as too old. So a full memory lets no proof count twice, and shuts no one
 * else out. A client whose proof is too old is sent a nonce, with which its next one counts as made now.
 */

/** The id of a proof, the owner whose share it fills, and when it was made, in Unix seconds. */
type Proof = { owner: string; id: string; at: number };

/** `old`: not within the age of proofs by the store's clock, or forgotten. */
type Recorded = "new" | "seen" | "old";

const { ageSeconds, ofOwner, inAll } = proofBounds;
const retryMs = 1000; // 1 second
const fewOfOwner = 64;

/**
 * Records a proof where counters are: in the store that instances share, by its clock, or in this process. While that store
 * is away this process remembers, so that an outage refuses no one; another instance could then be sent the same proof.
 */
export async function recordProof(proof: Proof, nowMs: number): Promise<Recorded> {
  const store = counterStore();
  const here = ownMemory().record(proof, nowMs);
  if (!store || here === "seen") return here;
  if (performance.now() < sharedMemory().awayUntilMs) return here;
  try {
    return await recordInStore(store, proof);
  } catch (failure) {
    sharedMemory().awayUntilMs = performance.now() + retryMs;
    const kind = failure instanceof Error ? failure.name : typeof failure;
    log().warn({ kind }, "proofs of possession are remembered in this process, because the store is away");
    return here;
  }
}

/** Whether a proof of this time, in Unix seconds, counts now. */
export function judgeAge(at: number, nowMs: number): "new" | "old" {
  return Math.abs(Math.floor(nowMs / 1000) - at) > ageSeconds ? "old" : "new";
}

const sharedMemory = perProcess("shared memory of proofs", () => ({ awayUntilMs: 0 }));
const ownMemory = perProcess("memory of proofs", () => new ProofMemory(ofOwner, inAll));

type Share = { proofs: Map<string, number>; floor: number; latest: number };

/** The memory of one process. */
export class ProofMemory {
  private readonly shares = new Map<string, Share>();
  private size = 0;
  private floor = 0;
  private sweptAt = 0;

  /** @param maxOfOwner - proofs of one owner, and `maxInAll` of all together */
  constructor(
    private readonly maxOfOwner: number,
    private readonly maxInAll: number,
  ) {}

  get count(): number {
    return this.size;
  }

  record({ owner, id, at }: Proof, nowMs: number): Recorded {
    const now = Math.floor(nowMs / 1000);
    if (judgeAge(at, nowMs) === "old") return "old";
    this.sweep(now);
    const share = this.shares.get(owner) ?? { proofs: new Map<string, number>(), floor: 0, latest: 0 };
    if (at <= Math.max(share.floor, this.floor)) return "old";
    if (share.proofs.has(id)) return "seen";
    share.proofs.set(id, at);
    share.latest = Math.max(share.latest, at);
    this.shares.set(owner, share);
    this.size++;
    if (share.proofs.size > this.maxOfOwner) this.forgetHalf(share);
    if (this.size > this.maxInAll) this.makeRoom(now);
    return "new";
  }

  /** Drops what is too old to count, once in a while. */
  private sweep(now: number): void {
    if (now - this.sweptAt < ageSeconds / 10 && now >= this.sweptAt) return;
    this.sweptAt = now;
    for (const [owner, share] of this.shares) {
      if (share.latest >= now - ageSeconds) this.forget(share, now - ageSeconds - 1);
      else {
        this.size -= share.proofs.size;
        this.shares.delete(owner);
      }
    }
  }

  /** Those who have the most lose the older half. Where no one has many, proofs count for less long. */
  private makeRoom(now: number): void {
    const mean = this.size / this.shares.size;
    while (mean <= fewOfOwner && this.size > this.maxInAll && this.floor < now) {
      this.floor = Math.ceil((Math.max(this.floor, now - ageSeconds) + now) / 2);
      for (const [owner, share] of this.shares) {
        this.forget(share, this.floor);
        if (share.proofs.size === 0) this.shares.delete(owner);
      }
    }
    if (this.size <= this.maxInAll) return;
    for (const share of this.shares.values()) if (share.proofs.size >= mean) this.forgetHalf(share);
  }

  private forgetHalf(share: Share): void {
    const times = [...share.proofs.values()].sort((one, other) => one - other);
    share.floor = times[Math.floor((times.length - 1) / 2)] ?? share.floor;
    this.forget(share, share.floor);
  }

  private forget({ proofs }: Share, until: number): void {
    const before = proofs.size;
    for (const [id, at] of proofs) if (at <= until) proofs.delete(id);
    this.size -= before - proofs.size;
  }
}

/** The same for one owner, whose proofs and floor are the members of a sorted set. */
export const script = `
local key, id, at, age, max = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(redis.call("TIME")[1])
-- Dragonfly has no clock in scripts: every proof would be old.
if now == 0 then return redis.error_reply("ERR TIME is 0 in scripts of this store") end
if math.abs(now - at) > age then return "old" end
redis.call("ZREMRANGEBYSCORE", key, "-inf", now - age - 1)
if at <= tonumber(redis.call("ZSCORE", key, "floor") or 0) then return "old" end
if redis.call("ZADD", key, "NX", at, id) == 0 then return "seen" end
if redis.call("ZCARD", key) > max then
  local middle = redis.call("ZRANGE", key, math.floor(max / 2), math.floor(max / 2), "WITHSCORES")
  redis.call("ZREMRANGEBYSCORE", key, "-inf", middle[2])
  redis.call("ZADD", key, middle[2], "floor")
end
redis.call("EXPIRE", key, 2 * age + 1)
return "new"
`;

const recorded = z.enum(["new", "seen", "old"]);

async function recordInStore(store: CounterStore, { owner, id, at }: Proof): Promise<Recorded> {
  const asked = store.eval(script, [`corner-office:proofs:{${owner}}`], [id, at, ageSeconds, ofOwner]);
  return recorded.parse(await withinDeadline(store, answersWithinMs.sharedCounters, asked));
}
