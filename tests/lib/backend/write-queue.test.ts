import { describe, expect, it } from "vitest";
import { WriteQueue } from "@/lib/backend/write-queue";

describe("the queue of writes", () => {
  it("takes the requests of a backend in the order in which they came, a thousand writes at once", () => {
    const queue = new WriteQueue<number>(20_000);
    for (let at = 0; at < 1500; at++) queue.add("worker", 1, at);
    expect(queue.take()).toEqual(Array.from({ length: 1000 }, (_, at) => at));
    expect(queue.take()).toEqual(Array.from({ length: 500 }, (_, at) => 1000 + at));
    expect(queue.take()).toEqual([]);
  });

  it("lets a spend go before the batches of another backend, and no batch wait for ever", () => {
    const queue = new WriteQueue<string>(20_000);
    for (const batch of ["batch 1", "batch 2", "batch 3"]) queue.add("meter", 1000, batch);
    queue.add("worker", 1, "spend 1");
    expect(queue.take()).toEqual(["spend 1", "batch 1"]);
    for (let at = 2; at <= 5; at++) queue.add("worker", 1, `spend ${at}`);
    expect(queue.take()).toEqual(["spend 2", "spend 3", "spend 4", "spend 5", "batch 2"]);
    for (let at = 0; at < 3000; at++) queue.add("worker", 1, "another");
    expect(queue.take()).toContain("batch 3");
  });

  it("has a share for each backend once it is full", () => {
    const queue = new WriteQueue<string>(20_000);
    for (let at = 0; at < 20; at++) expect(queue.add("meter", 1000, "batch")).toBe(true);
    expect(queue.add("meter", 1, "one more")).toBe(false);
    for (let at = 0; at < 10; at++) expect(queue.add("worker", 1000, "batch")).toBe(true);
    expect(queue.add("worker", 1, "one more")).toBe(false);
    expect(queue.add("third", 1, "spend")).toBe(true);
    // By writes, so the third, which has one, is first.
    expect(queue.take()).toEqual(["spend", "batch"]);
    for (let taken = 1; taken < 30; taken++) expect(queue.take()).toHaveLength(1);
    expect(queue.take()).toEqual([]);
    expect(queue.add("meter", 1, "one more")).toBe(true);
  });
});
