import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seal, unseal } from "@/lib/runtime/seal";

beforeAll(() => {
  process.env.APP_SECRET = "s".repeat(32);
});
afterAll(() => {
  delete process.env.APP_SECRET;
});

describe("sealed text", () => {
  it("is read again under its purpose and beside its label alone", () => {
    const sealed = seal("sign-in-mail:v1", "row-1", "Grüße, 123456");
    expect(unseal("sign-in-mail:v1", "row-1", sealed)).toBe("Grüße, 123456");
    expect(unseal("sign-in-mail:v1", "row-2", sealed)).toBeUndefined();
    expect(unseal("sign-in-code:v1", "row-1", sealed)).toBeUndefined();
  });

  it("shows nothing of the text, and is another each time", () => {
    const [one, other] = [seal("sign-in-mail:v1", "a", "123456"), seal("sign-in-mail:v1", "a", "123456")];
    expect(one).toMatch(/^[\w-]+$/);
    expect(one).not.toBe(other);
    expect(Buffer.from(one, "base64url").toString("latin1")).not.toContain("123456");
  });

  it("is nothing once a byte of it was altered, cut or made up", () => {
    const bytes = Buffer.from(seal("sign-in-mail:v1", "a", "123456"), "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(unseal("sign-in-mail:v1", "a", altered.toString("base64url")), `byte ${at}`).toBeUndefined();
      expect(
        unseal("sign-in-mail:v1", "a", bytes.subarray(0, at).toString("base64url")),
        `${at}`,
      ).toBeUndefined();
    }
    expect(unseal("sign-in-mail:v1", "a", "")).toBeUndefined();
  });
});
