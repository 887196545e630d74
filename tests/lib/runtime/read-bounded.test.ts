import { expect, it } from "vitest";
import { readBounded } from "@/lib/runtime/read-bounded";

async function* inPieces(text: string) {
  for (const character of text) yield Buffer.from(character);
}

it("reads as many bytes as it may, and no more", async () => {
  expect(await readBounded(inPieces("text"), 4)).toBe("text");
  expect(await readBounded(null, 4)).toBe("");
  await expect(readBounded(inPieces("texts"), 4)).rejects.toThrow("is larger than 4 bytes");
});
