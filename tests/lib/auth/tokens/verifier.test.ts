import { afterAll, describe, expect, it } from "vitest";
import { keyRing } from "@/lib/auth/keys/key-ring";
import { mintSessionToken } from "@/lib/auth/tokens/session-token";
import { verifyToken } from "@/lib/auth/tokens/verifier";
import { closeStore } from "@/lib/db/store";
import { createFolder } from "@/tests/support/leash";

describe("a token that a key of our ring signed", () => {
  const nowMs = 1_800_000_000_000;
  process.env.DATA_DIR = createFolder();
  afterAll(closeStore);

  const terms = { subject: "user_1", sessionId: "sess_1", endsAtMs: nowMs + 60_000 };

  it("is valid only with that key's issuer", async () => {
    const key = await keyRing().signing(nowMs);
    const mint = (issuer: string) => mintSessionToken(terms, { ...key, issuer }, nowMs);
    const good = await mint(key.issuer);
    expect(await verifyToken(good.token, nowMs)).toMatchObject({ subject: "user_1", keyId: key.kid });
    for (const issuer of ["urn:corner-office:another", "urn:corner-office:", "https://evil.example"]) {
      const { token } = await mint(issuer);
      expect(await verifyToken(token, nowMs), issuer).toBeUndefined();
    }
  });
});
