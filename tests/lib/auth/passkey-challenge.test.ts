import { describe, expect, it } from "vitest";
import { isChallenge, makeChallenge } from "@/lib/auth/passkey-challenge";
import { mintSecret } from "@/lib/auth/secret";

const browser = mintSecret();
const atMs = Date.UTC(2026, 10, 21);
const fiveMinutesMs = 5 * 60 * 1000;
const challenge = makeChallenge(browser, "sign in", atMs);

describe("a challenge", () => {
  it("lives five minutes", () => {
    expect(isChallenge(challenge, browser, "sign in", atMs)).toBe(true);
    expect(isChallenge(challenge, browser, "sign in", atMs + fiveMinutesMs - 1)).toBe(true);
    expect(isChallenge(challenge, browser, "sign in", atMs + fiveMinutesMs)).toBe(false);
  });

  it("is given to one browser, for one purpose", () => {
    expect(isChallenge(challenge, mintSecret(), "sign in", atMs)).toBe(false);
    expect(isChallenge(challenge, "", "sign in", atMs)).toBe(false);
    expect(isChallenge(challenge, browser, "add to acc_1", atMs)).toBe(false);
  });

  it("counts in one spelling only, with every bit as it was given", () => {
    const bytes = Buffer.from(challenge, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      expect(isChallenge(changed.toString("base64url"), browser, "sign in", atMs), `bit ${bit}`).toBe(false);
    }
    for (const other of ["", challenge.slice(0, -1), `${challenge}A`, `${challenge}=`, ` ${challenge}`]) {
      expect(isChallenge(other, browser, "sign in", atMs), other).toBe(false);
    }
  });
});
