import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { endpoint } from "@/lib/api/endpoint";
import { type Operation, operations, type Retirement } from "@/lib/api/operations";
import { checkRetirements } from "@/lib/api/retirement";

const retirement: Retirement = {
  announcedAt: "2027-01-01T00:00:00Z",
  deprecatedAt: "2027-02-01T00:00:00Z",
  sunsetAt: "2027-04-01T00:00:00Z",
  guide: "/docs/api/migrate-to-2",
};
const register = { old: { ...operations.siteBanner, retirement } satisfies Operation };

beforeAll(() => vi.stubEnv("APP_URL", "https://office.example.com"));
afterAll(() => vi.unstubAllEnvs());

describe("an operation being retired", () => {
  const { GET } = endpoint(register.old, () => ({ banner: null }));

  it("says when on every answer: Deprecation (RFC 9745), Sunset (RFC 8594) and where the guide is", async () => {
    const good = await GET(new Request("https://office.example.com/api/site-banner"));
    const bad = await GET(
      new Request("https://office.example.com/api/site-banner", { headers: { "api-version": "2" } }),
    );
    expect([good.status, bad.status]).toEqual([200, 400]);
    for (const { headers } of [good, bad]) {
      expect(headers.get("deprecation")).toBe("@1801440000");
      expect(headers.get("sunset")).toBe("Thu, 01 Apr 2027 00:00:00 GMT");
      expect(headers.get("link")).toBe(
        '<https://office.example.com/docs/api/policy>; rel="deprecation"; type="text/html", ' +
          '<https://office.example.com/docs/api/migrate-to-2>; rel="sunset"; type="text/html"',
      );
    }
  });
});

describe("checkRetirements", () => {
  const check = (changed: Partial<Retirement>) => () =>
    checkRetirements({ old: { ...register.old, retirement: { ...retirement, ...changed } } });

  it("accepts a sunset exactly 90 days after the announcement, on the day of the deprecation", () => {
    const sunsetAt = "2027-04-01T00:00:00Z"; // 90 days after 1 January
    expect(check({ sunsetAt, deprecatedAt: sunsetAt })).not.toThrow();
  });

  it.each<[Partial<Retirement>, string]>([
    [
      { sunsetAt: "2027-03-31T23:59:59Z" },
      "The retirement of old ends less than 90 days after its announcement.",
    ],
    [{ deprecatedAt: "2027-04-01T00:00:01Z" }, "The retirement of old ends before its deprecation."],
    [{ sunsetAt: "soon" }, "The retirement of old has a date that is not ISO 8601."],
  ])("refuses %j", (changed, fault) => {
    expect(check(changed)).toThrow(fault);
  });

  it("finds nothing wrong with the register", () => {
    expect(() => checkRetirements(operations)).not.toThrow();
  });
});
