import { describe, expect, it } from "vitest";
import { GrowingBuffer } from "@/lib/http/growing-buffer";

describe("a growing buffer", () => {
  it("takes a first piece as it is, and never writes into it", () => {
    const slab = Buffer.from("piece and what lies behind it");
    const buffer = new GrowingBuffer();
    buffer.append(slab.subarray(0, 5));
    expect(buffer.bytes.buffer).toBe(slab.buffer);
    buffer.append(Buffer.from("!"));
    expect(buffer.bytes.toString()).toBe("piece!");
    expect(slab.toString()).toBe("piece and what lies behind it");
  });

  it("doubles, and takes no more space than its bound", () => {
    const buffer = new GrowingBuffer(5000);
    const spaces = new Set<ArrayBufferLike>();
    for (let bytes = 0; bytes < 5000; bytes++) {
      buffer.append(Buffer.from("x"));
      spaces.add(buffer.bytes.buffer);
    }
    expect([...spaces].slice(1).map((space) => space.byteLength)).toEqual([1024, 2048, 4096, 5000]);
  });
});
