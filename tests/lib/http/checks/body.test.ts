import { describe, expect, it } from "vitest";
import { bodyPieces } from "@/lib/config/limits";
import { readBody } from "@/lib/http/checks/body";
import { callOf } from "@/lib/http/platform";

/** A request whose body comes in these parts; `pulled` says how many of them were asked for. */
function requestOf(parts: Iterable<string>, headers: Record<string, string> = {}) {
  const source = parts[Symbol.iterator]();
  const state = { pulled: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value, done } = source.next();
        if (done) return controller.close();
        state.pulled++;
        controller.enqueue(Buffer.from(value));
      },
    },
    { highWaterMark: 0 },
  );
  const request = new Request("https://office.example.com/", {
    method: "POST",
    headers,
    body,
    duplex: "half",
  } as RequestInit);
  return { request, state };
}

function* endless() {
  for (;;) yield "x".repeat(1024);
}

const tooLarge = { code: "too_large", status: 413 };

describe("readBody", () => {
  it("reads bytes, not letters: one that two parts share stays whole", async () => {
    const bytes = Buffer.from("ü");
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect(await readBody(callOf(new Request("https://office.example.com/", init)), 2)).toEqual(bytes);
  });

  it("takes a body of its bound, and refuses one byte more", async () => {
    const most = ["x".repeat(4000), "y".repeat(96)];
    expect(await readBody(callOf(requestOf(most).request), 4096)).toHaveLength(4096);
    await expect(readBody(callOf(requestOf([...most, "z"]).request), 4096)).rejects.toMatchObject({
      ...tooLarge,
      message: "The body is over 4 KiB.",
    });
  });

  it("counts what comes, whatever Content-Length said, and asks for no more once it is too much", async () => {
    const { request, state } = requestOf(endless(), { "content-length": "10" });
    await expect(readBody(callOf(request), 4096)).rejects.toMatchObject(tooLarge);
    expect(state.pulled).toBe(5);
  });

  it("refuses a longer one in smaller pieces, and asks for no more of them", async () => {
    function* typed() {
      for (;;) yield "x";
    }
    const { request, state } = requestOf(typed());
    await expect(readBody(callOf(request), 65_536)).rejects.toMatchObject({
      code: "invalid_request",
      status: 400,
      message: "The body comes in pieces that are too small.",
      hint: "Send it in chunks of 8 bytes or more, or all at once.",
    });
    expect(state.pulled).toBe(Math.floor((bodyPieces.any * 8) / 7) + 1);
  });

  it("tells a body that breaks off from one that is too large", async () => {
    function* broken() {
      yield "half of it";
      throw new Error("ECONNRESET");
    }
    await expect(readBody(callOf(requestOf(broken()).request), 4096)).rejects.toMatchObject({
      code: "invalid_request",
      status: 400,
      message: "The body did not arrive whole.",
    });
  });
});
