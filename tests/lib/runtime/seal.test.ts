import { beforeAll, describe, expect, it } from "vitest";
import { seal, unseal } from "@/lib/runtime/seal";

beforeAll(() => {
  process.env.APP_SECRET = "s".repeat(32);
});

describe("sealed text", () => {
  it("is decrypted only with its purpose and its label", () => {
    const sealed = seal("security-mail:v1", "row-1", "Grüße, 123456");
    expect(unseal("security-mail:v1", "row-1", sealed)).toBe("Grüße, 123456");
    expect(unseal("security-mail:v1", "row-2", sealed)).toBeUndefined();
    expect(unseal("sign-in-code:v1", "row-1", sealed)).toBeUndefined();
  });

  it("reveals nothing of the text, and differs each time", () => {
    const [one, other] = [seal("security-mail:v1", "a", "123456"), seal("security-mail:v1", "a", "123456")];
    expect(one).toMatch(/^[\w-]+$/);
    expect(one).not.toBe(other);
    expect(Buffer.from(one, "base64url").toString("latin1")).not.toContain("123456");
  });

  it("is rejected after any byte was changed, removed or added", () => {
    const bytes = Buffer.from(seal("security-mail:v1", "a", "123456"), "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(unseal("security-mail:v1", "a", altered.toString("base64url")), `byte ${at}`).toBeUndefined();
      expect(
        unseal("security-mail:v1", "a", bytes.subarray(0, at).toString("base64url")),
        `${at}`,
      ).toBeUndefined();
    }
    expect(unseal("security-mail:v1", "a", "")).toBeUndefined();
  });
});
