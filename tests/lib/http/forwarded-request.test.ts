import { describe, expect, it } from "vitest";
import { forwardedLimits } from "@/lib/config/limits";
import { limitHeaders, limitQuery } from "@/lib/http/forwarded-request";

const hand = (sent: Record<string, string>, method = "GET") =>
  Object.fromEntries(limitHeaders(method, (name) => sent[name]));

describe("of a request, what renders pages sees", () => {
  it("is each header that it reads, and no more of it than it needs", () => {
    const long = "x".repeat(20_000);
    const { cookie: _, ...lengths } = forwardedLimits.characters;
    for (const [name, length] of Object.entries(lengths)) {
      expect(hand({ [name]: long })).toEqual({ [name]: "x".repeat(length) });
      expect(hand({ [name]: "short" })).toEqual({ [name]: "short" });
    }
    expect(forwardedLimits.characters["user-agent"]).toBe(256);
    expect(hand({ "x-middleware-subrequest": "middleware", host: "evil.example" })).toEqual({});
  });

  it("is what a POST is for, of a POST alone", () => {
    const sent = { "next-action": "a1", "content-type": "text/plain" };
    expect(hand(sent, "POST")).toEqual(sent);
    expect(hand(sent, "GET")).toEqual({});
  });

  it("are our own cookies and Clerk's", () => {
    const cookie =
      "_ga=GA1.2; __session=a; __Host-office-client=b;office-email=c; __client_uat_x1=1; __clerk_db_jwt=d; xoffice-email=e";
    expect(hand({ cookie })).toEqual({
      cookie: "__session=a; __Host-office-client=b; office-email=c; __client_uat_x1=1; __clerk_db_jwt=d",
    });
    expect(hand({ cookie: "_ga=GA1.2" })).toEqual({});
  });

  it("is both cookies of one name, or none of more than there are", () => {
    const most = Array<string>(forwardedLimits.cookies).fill("__session=a").join("; ");
    expect(hand({ cookie: most })).toEqual({ cookie: most });
    expect(hand({ cookie: `${most}; __session=b` })).toEqual({});
  });

  it("is a query of as many parameters as a page has", () => {
    const query = (most: number) => Array.from({ length: most }, (_, n) => `p${n}=?`).join("&");
    expect(limitQuery("/sign-in")).toBe("/sign-in");
    expect(limitQuery("/sign-in?")).toBe("/sign-in?");
    expect(limitQuery(`/sign-in?${query(5000)}`)).toBe(`/sign-in?${query(forwardedLimits.parameters)}`);
  });
});
