import { describe, expect, it, vi } from "vitest";
import { readCookie, readCookies, sendsCookie, writeCookie } from "@/lib/http/cookies";
import { createFolder } from "@/tests/support/leash";

describe("writeCookie", () => {
  it("is Secure for operators where only the office has HTTPS", () => {
    vi.stubEnv("OFFICE_PORT", "3001");
    vi.stubEnv("OFFICE_URL", "https://office.example.com");
    vi.stubEnv("DATA_DIR", createFolder());
    expect(writeCookie("operator-session", "x", 60)).toBe(
      "__Host-operator-session=x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure",
    );
    expect(writeCookie("office-client", "x", 60)).not.toContain("Secure");
  });
});

const headers = (cookie: string) => new Headers({ cookie });

describe("readCookie", () => {
  const read = (cookie: string) => readCookie(headers(cookie), "__session");

  it.each([
    ["__session=a", "a"],
    ["other=b;__session=a", "a"],
    ["other=b;\t __session=a \t; more=c", "a"],
    ["__session=a=b", "a=b"],
    ["__session=a; __session=", "a"],
    [" __session=a;;=b; ;", "a"],
    ["other=__session=b; x__session=c; __session =d;__session=\t;__session=a", "a"],
    // Java's HttpCookie: spring-projects/spring-boot#8430, pillarjs/cookies#64.
    ['$Version="1"; __session="a";$Path="/"', "a"],
    ['__session=""', undefined],
    ['__session="a', '"a'],
    ["__session=a; __session=b", undefined],
    ["__session=", undefined],
    ["__sessions=a", undefined],
    ["__Session=a", undefined],
    ["", undefined],
  ])("reads %j as %j", (cookie, value) => {
    expect(read(cookie)).toBe(value);
  });

  const fastestMs = (cookie: string) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const sent = headers(cookie);
        const startedAtMs = performance.now();
        for (const name of ["__session", "office-client", "office-known"] as const) readCookie(sent, name);
        return performance.now() - startedAtMs;
      }),
    );

  it.each([";", "=;", "a;", "a=b;", " ;"])("takes as long for 16 KB of %j as for one cookie", (unit) => {
    const many = unit.repeat(16_000 / unit.length);
    expect(fastestMs(many)).toBeLessThan(10 * fastestMs("a".repeat(16_000)));
  });

  it("takes ten times as long for ten times as many of the name, and not a hundred times", () => {
    const many = (count: number) => "__session=b;".repeat(count);
    expect(fastestMs(many(4000))).toBeLessThan(40 * fastestMs(many(400)));
  });

  it.each(["\u00a0", "\u0085", "\v", "\f"])("takes no name for another that begins with %j", (blank) => {
    expect(read(`${blank}__session=a`)).toBeUndefined();
    expect(read(`__session=a${blank}`)).toBe(`a${blank}`);
  });
});

describe("readCookies", () => {
  it("reads all of a name, in the order in which they are sent", () => {
    expect(readCookies(headers("a=1; b=2; a=; a=3"), "a")).toEqual(["1", "3"]);
    expect(readCookies(headers("a=1"), "b")).toEqual([]);
  });
});

describe("sendsCookie", () => {
  it.each([
    ["__session=b; other=c; __session=a", true],
    ["__session=; other=__session=a", false],
  ])("sees in %j whether there is one: %s", (cookie, isSent) => {
    expect(sendsCookie(headers(cookie), "__session")).toBe(isSent);
  });
});
