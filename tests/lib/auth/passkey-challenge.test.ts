import { describe, expect, it } from "vitest";
import { challengeBrowser, expectedOf } from "@/lib/auth/passkey-challenge";

const atMs = Date.UTC(2026, 10, 21);
const fiveMinutesMs = 5 * 60 * 1000;

const { challenge, cookie } = challengeBrowser({ headers: new Headers(), nowMs: atMs }, "sign in");
const ours = { cookie: cookie.split(";", 1)[0] ?? "" };

function isExpected({ sent = challenge, afterMs = 0 } = {}) {
  return expectedOf({ headers: new Headers(ours), nowMs: atMs + afterMs }, "sign in")(sent);
}

describe("a challenge", () => {
  it("lives five minutes", () => {
    expect(isExpected()).toBe(true);
    expect(isExpected({ afterMs: fiveMinutesMs - 1 })).toBe(true);
    expect(isExpected({ afterMs: fiveMinutesMs })).toBe(false);
  });

  it("counts in one spelling only, with every bit as it was given", () => {
    const bytes = Buffer.from(challenge, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      expect(isExpected({ sent: changed.toString("base64url") }), `bit ${bit}`).toBe(false);
    }
    for (const sent of ["", challenge.slice(0, -1), `${challenge}A`, `${challenge}=`, ` ${challenge}`]) {
      expect(isExpected({ sent }), sent).toBe(false);
    }
  });
});
