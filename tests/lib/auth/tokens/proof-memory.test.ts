import { describe, expect, it } from "vitest";
import { ProofMemory } from "@/lib/auth/tokens/proof-memory";
import { proofBounds } from "@/lib/config/limits";

const { ageSeconds } = proofBounds;
const start = 1_800_000_000;

/** A memory, and a way to use proofs in it: each is made at `at`, and arrives then unless `now` says later. */
function remember(maxOfOwner: number, maxInAll: number) {
  const memory = new ProofMemory(maxOfOwner, maxInAll);
  const use = (owner: string, id: string, at = start, now = at) =>
    memory.record({ owner, id, at }, now * 1000);
  return { memory, use };
}

describe("the memory of proofs", () => {
  it("takes each once, as long as it counts, and each owner's for themselves", () => {
    const { use } = remember(10, 100);
    expect(use("a", "1")).toBe("new");
    expect(use("b", "1")).toBe("new");
    for (const now of [start, start + 1, start + ageSeconds]) expect(use("a", "1", start, now)).toBe("seen");
    expect(use("a", "1", start, start + ageSeconds + 1)).toBe("old");
    expect(use("a", "2", start + ageSeconds + 1, start)).toBe("old");
  });

  it("takes one from a clock ahead once too, although it counts longer", () => {
    const { use } = remember(10, 100);
    const at = start + ageSeconds;
    expect(use("a", "1", at, start)).toBe("new");
    for (let now = start; now <= at + ageSeconds; now += 10) expect(use("a", "1", at, now)).toBe("seen");
    expect(use("a", "1", at, at + ageSeconds + 1)).toBe("old");
  });

  it("forgets the older half of an owner who has too many, whose older proofs then count no more", () => {
    const { memory, use } = remember(10, 1000);
    use("b", "1", start);
    const used = Array.from({ length: 200 }, (_, n) => ({ id: `${n}`, at: start + n }));
    for (const { id, at } of used) {
      expect(use("a", id, at)).toBe("new");
      expect(memory.count).toBeLessThanOrEqual(12);
    }
    for (const { id, at } of used) expect(use("a", id, at, start + 200)).not.toBe("new");
    expect(use("a", "newer", start + 200)).toBe("new");
    expect(use("b", "1", start, start + 200)).toBe("seen");
    expect(use("b", "2", start, start + 200)).toBe("new");
  });

  it("stays within its bounds whatever one owner sends, and takes the others' proofs once all the same", () => {
    const { memory, use } = remember(1000, 500);
    for (let n = 0; n < 5000; n++) {
      use("a", `${n}`, start + Math.floor(n / 100));
      if (n % 100 === 0) expect(use("b", `${n}`, start + n / 100)).toBe("new");
      expect(memory.count).toBeLessThanOrEqual(500);
    }
    for (let n = 0; n < 5000; n += 100) expect(use("b", `${n}`, start + n / 100, start + 50)).toBe("seen");
    expect(use("b", "earlier", start - 100, start + 50)).toBe("new");
  });

  it("lets proofs count for less long where too many have a few each, and takes none twice", () => {
    const { memory, use } = remember(10, 500);
    const used = Array.from({ length: 5000 }, (_, n) => ({ owner: `${n}`, at: start + Math.floor(n / 100) }));
    for (const { owner, at } of used) {
      expect(["new", "old"]).toContain(use(owner, "1", at));
      expect(memory.count).toBeLessThanOrEqual(500);
    }
    for (const { owner, at } of used) expect(use(owner, "1", at, start + 50)).not.toBe("new");
    expect(use("late", "1", start + 51)).toBe("new");
  });

  it("forgets no newer one where the older ones made room", () => {
    const { memory, use } = remember(10, 2);
    expect(use("a", "1", start - ageSeconds, start)).toBe("new");
    for (const owner of ["b", "c"]) expect(use(owner, "1")).toBe("new");
    expect(memory.count).toBe(2);
    for (const owner of ["b", "c"]) expect(use(owner, "1")).toBe("seen");
  });

  it("is empty again once nothing in it counts any more", () => {
    const { memory, use } = remember(1000, 10_000);
    for (let n = 0; n < 5000; n++) use(`${n % 50}`, `${n}`);
    use("last", "1", start + 2 * ageSeconds);
    expect(memory.count).toBe(1);
  });
});
