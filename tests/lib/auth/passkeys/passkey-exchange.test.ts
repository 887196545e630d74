import { describe, expect, it } from "vitest";
import { askToSign, expectedOf } from "@/lib/auth/passkeys/passkey-exchange";
import { ownersSite } from "@/lib/auth/passkeys/passkeys";

const atMs = Date.UTC(2026, 10, 21);
const fiveMinutesMs = 5 * 60 * 1000;

const { body, headers = [] } = askToSign({ headers: new Headers(), nowMs: atMs }, ownersSite(), "sign in");
const { challenge } = body as { challenge: string };
const ours = { cookie: headers[1]?.split(";", 1)[0] ?? "" };

function isExpected(afterMs: number) {
  return expectedOf(
    { headers: new Headers(ours), nowMs: atMs + afterMs },
    ownersSite(),
    "sign in",
  )(challenge);
}

describe("a challenge", () => {
  it("lives five minutes", () => {
    expect(isExpected(0)).toBe(true);
    expect(isExpected(fiveMinutesMs - 1)).toBe(true);
    expect(isExpected(fiveMinutesMs)).toBe(false);
  });
});
