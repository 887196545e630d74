import { describe, expect, it } from "vitest";
import { challengeBrowser, expectedOf } from "@/lib/auth/passkeys/passkey-challenge";

const atMs = Date.UTC(2026, 10, 21);
const fiveMinutesMs = 5 * 60 * 1000;

const { challenge, cookie } = challengeBrowser({ headers: new Headers(), nowMs: atMs }, "sign in");
const ours = { cookie: cookie.split(";", 1)[0] ?? "" };

function isExpected(afterMs: number) {
  return expectedOf({ headers: new Headers(ours), nowMs: atMs + afterMs }, "sign in")(challenge);
}

describe("a challenge", () => {
  it("lives five minutes", () => {
    expect(isExpected(0)).toBe(true);
    expect(isExpected(fiveMinutesMs - 1)).toBe(true);
    expect(isExpected(fiveMinutesMs)).toBe(false);
  });
});
