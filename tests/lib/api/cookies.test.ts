import { describe, expect, it } from "vitest";
import { readCookie } from "@/lib/api/cookies";

describe("readCookie", () => {
  const read = (cookie: string) => readCookie(new Headers({ cookie }), "name");

  it.each([
    ["name=a", "a"],
    ["other=b; name=a", "a"],
    ["other=b;name=a", "a"],
    ["other=b;\t name=a \t; more=c", "a"],
    ["name=a=b", "a=b"],
    ["name=", undefined],
    ["name", undefined],
    ["names=a", undefined],
    ["Name=a", undefined],
    ["", undefined],
  ])("reads %j as %j", (cookie, value) => {
    expect(read(cookie)).toBe(value);
  });

  it.each(["\u00a0", "\u0085", "\v", "\f"])("takes no name for another that begins with %j", (blank) => {
    expect(read(`${blank}name=a`)).toBeUndefined();
    expect(read(`name=a${blank}`)).toBe(`a${blank}`);
  });
});
