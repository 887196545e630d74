import { createHmac, hkdfSync } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { findKnownBrowser, isKnownTo, knownSeconds, rememberBrowser } from "@/lib/http/known-browser";

describe("a browser that signed in before", () => {
  beforeAll(() => {
    process.env.APP_SECRET = "s".repeat(32);
    // An operator who changes the secret sets the previous one too, so that browsers stay known.
    process.env.APP_SECRET_PREVIOUS = "p".repeat(32);
  });

  const nowMs = Date.parse("2026-11-27T12:00:00Z");
  const carrying = (cookie = "") => new Headers({ cookie });
  const signIn = (headers: Headers, email: string) =>
    carrying(rememberBrowser(headers, { id: `acc_${email[0]}`, email }, nowMs).split(";")[0]);
  /** The headers of a browser that signed in to these emails, in turn. */
  const signedInTo = (...emails: string[]) => emails.reduce(signIn, carrying());
  const find = (headers: Headers, atMs = nowMs, exists = true) =>
    findKnownBrowser(headers, atMs, async () => exists);
  const partsOf = (headers: Headers) => (headers.get("cookie") ?? "").replace("office-known=", "").split(".");

  it("is known to the emails that it signed in to, and to no other", () => {
    const headers = signedInTo("ceo@example.com", "two@example.com");
    expect(isKnownTo(headers, "ceo@example.com")).toBe(true);
    expect(isKnownTo(headers, "two@example.com")).toBe(true);
    expect(isKnownTo(headers, "three@example.com")).toBe(false);
    expect(isKnownTo(carrying(), "ceo@example.com")).toBe(false);
  });

  it("keeps its id, one proof an email, and forgets the one of five that it used least lately", async () => {
    const emails = ["1", "2", "3", "2", "4", "5"].map((name) => `${name}@example.com`);
    const headers = signedInTo(...emails);
    expect(partsOf(headers)).toHaveLength(3 + 4);
    expect(emails.map((email) => isKnownTo(headers, email))).toEqual([false, true, true, true, true, true]);
    const often = signedInTo("ceo@example.com", ...Array<string>(5).fill("two@example.com"));
    expect(isKnownTo(often, "ceo@example.com"), "one that signs in again and again pushes none out").toBe(
      true,
    );
    const { id } = (await find(headers)) ?? {};
    expect(id).toMatch(/^[\w-]{22}$/);
    expect(await find(signIn(headers, "6@example.com"))).toEqual({ id, account: "acc_6" });
  });

  it("is its last account's, for 180 days after that sign-in, and only while that account exists", async () => {
    const headers = signedInTo("1@example.com", "2@example.com");
    expect(await find(headers)).toMatchObject({ account: "acc_2" });
    expect(await find(headers, nowMs + knownSeconds * 1000)).toMatchObject({ account: "acc_2" });
    expect(await find(headers, nowMs + (knownSeconds + 1) * 1000)).toBeUndefined();
    expect(await find(headers, nowMs, false)).toBeUndefined();
  });

  it("is none with a proof that is altered, of another browser, sent twice or made up", async () => {
    const [id = "", proof = "", since = "", email = ""] = partsOf(signedInTo("ceo@example.com"));
    const [otherId = "", , otherSince = "", otherEmail = ""] = partsOf(signedInTo("ceo@example.com"));
    const flipped = proof.replace(/^./, (first) => (first === "A" ? "B" : "A"));
    const whole = `${id}.${flipped}.${since}.${email}`;
    for (const made of [whole, `${otherId}.${proof}.${since}.${email}`, id, "", "..", "a.b.c", "a.b.c~d~e"]) {
      const headers = carrying(`office-known=${made}`);
      expect(await find(headers), made).toBeUndefined();
      expect(isKnownTo(headers, "ceo@example.com"), made).toBe(false);
    }
    const borrowed = carrying(`office-known=${id}.${proof}.${since}.${otherEmail}`);
    expect(await find(borrowed)).toMatchObject({ id });
    expect(isKnownTo(borrowed, "ceo@example.com")).toBe(false);
    const later = since.replace(/~\d+~/, `~${nowMs}~`);
    for (const made of [otherSince, later, since.replace("acc_c", "acc_x"), "acc_c", "acc_c~1", "~~"])
      expect(await find(carrying(`office-known=${id}.${proof}.${made}.${email}`)), made).toBeUndefined();
    const one = `office-known=${id}.${proof}.${since}.${email}`;
    expect(isKnownTo(carrying(`${one}; ${one}`), "ceo@example.com")).toBe(false);
  });

  it("stays known after one change of APP_SECRET, and no longer", async () => {
    const madeUnder = (secret: string) => {
      const since = "acc_c~1795780800";
      const key = Buffer.from(hkdfSync("sha256", secret, "", "known-browser:v1", 32));
      const prove = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
      const dated = `.${since}~${prove(`anid.${since}`)}`;
      return carrying(`office-known=anid.${prove("anid")}${dated}.${prove("anid.ceo@example.com")}`);
    };
    const before = madeUnder("p".repeat(32));
    expect(await find(before)).toEqual({ id: "anid", account: "acc_c" });
    expect(isKnownTo(before, "ceo@example.com")).toBe(true);
    const since = signIn(before, "two@example.com");
    expect(await find(since)).toEqual({ id: "anid", account: "acc_t" });
    for (const email of ["ceo@example.com", "two@example.com"]) expect(isKnownTo(since, email)).toBe(true);
    expect(partsOf(since)[1], "its id is proven by the newest secret").toBe(
      partsOf(madeUnder("s".repeat(32)))[1],
    );
    expect(await find(madeUnder("o".repeat(32)))).toBeUndefined();
  });
});
