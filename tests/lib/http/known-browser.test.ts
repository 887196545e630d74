import { createHmac, hkdfSync } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { isKnownTo, readKnownBrowser, rememberBrowser } from "@/lib/http/known-browser";

describe("a browser that signed in before", () => {
  beforeAll(() => {
    process.env.APP_SECRET = "s".repeat(32);
    // An operator who changes the secret sets the previous one too, so that browsers stay known.
    process.env.APP_SECRET_PREVIOUS = "p".repeat(32);
  });

  const carrying = (cookie = "") => new Headers({ cookie });
  /** The headers of a browser that signed in to these emails, in turn. */
  function signedInTo(...emails: string[]): Headers {
    let headers = carrying();
    for (const email of emails) headers = carrying(rememberBrowser(headers, email).split(";")[0]);
    return headers;
  }
  const proofsOf = (headers: Headers) =>
    (headers.get("cookie") ?? "").replace("office-known=", "").split(".");

  it("is known to the emails that it signed in to, and to no other", () => {
    const headers = signedInTo("ceo@example.com", "two@example.com");
    expect(isKnownTo(headers, "ceo@example.com")).toBe(true);
    expect(isKnownTo(headers, "two@example.com")).toBe(true);
    expect(isKnownTo(headers, "three@example.com")).toBe(false);
    expect(isKnownTo(carrying(), "ceo@example.com")).toBe(false);
  });

  it("keeps its id, one proof an email, and forgets the one of five that it used least lately", () => {
    const emails = ["1", "2", "3", "2", "4", "5"].map((name) => `${name}@example.com`);
    const headers = signedInTo(...emails);
    expect(proofsOf(headers)).toHaveLength(2 + 4);
    expect(emails.map((email) => isKnownTo(headers, email))).toEqual([false, true, true, true, true, true]);
    const often = signedInTo("ceo@example.com", ...Array<string>(5).fill("two@example.com"));
    expect(isKnownTo(often, "ceo@example.com"), "one that signs in again and again pushes none out").toBe(
      true,
    );
    expect(readKnownBrowser(signedInTo("a@example.com"))).toMatch(/^[\w-]{22}$/);
    const id = readKnownBrowser(headers);
    const again = carrying(rememberBrowser(headers, "6@example.com").split(";")[0]);
    expect(readKnownBrowser(again)).toBe(id);
  });

  it("is none with a proof that is altered, of another browser, sent twice or made up", () => {
    const [id = "", proof = "", email = ""] = proofsOf(signedInTo("ceo@example.com"));
    const [otherId = "", , otherEmail = ""] = proofsOf(signedInTo("ceo@example.com"));
    const flipped = proof.replace(/^./, (first) => (first === "A" ? "B" : "A"));
    for (const made of [`${id}.${flipped}.${email}`, `${otherId}.${proof}.${email}`, id, "", "..", "a.b.c"]) {
      const headers = carrying(`office-known=${made}`);
      expect(readKnownBrowser(headers), made).toBeUndefined();
      expect(isKnownTo(headers, "ceo@example.com"), made).toBe(false);
    }
    const borrowed = carrying(`office-known=${id}.${proof}.${otherEmail}`);
    expect(readKnownBrowser(borrowed)).toBe(id);
    expect(isKnownTo(borrowed, "ceo@example.com")).toBe(false);
    const twice = carrying(`office-known=${id}.${proof}.${email}; office-known=${id}.${proof}.${email}`);
    expect(isKnownTo(twice, "ceo@example.com")).toBe(false);
  });

  it("stays known after one change of APP_SECRET, and no longer", () => {
    const madeUnder = (secret: string) => {
      const key = Buffer.from(hkdfSync("sha256", secret, "", "known-browser:v1", 32));
      const prove = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
      return carrying(`office-known=anid.${prove("anid")}.${prove("anid.ceo@example.com")}`);
    };
    const before = madeUnder("p".repeat(32));
    expect(readKnownBrowser(before)).toBe("anid");
    expect(isKnownTo(before, "ceo@example.com")).toBe(true);
    const since = carrying(rememberBrowser(before, "two@example.com").split(";")[0]);
    expect(readKnownBrowser(since)).toBe("anid");
    for (const email of ["ceo@example.com", "two@example.com"]) expect(isKnownTo(since, email)).toBe(true);
    expect(proofsOf(since)[1], "its id is proven by the newest secret").toBe(
      proofsOf(madeUnder("s".repeat(32)))[1],
    );
    expect(readKnownBrowser(madeUnder("o".repeat(32)))).toBeUndefined();
  });
});
