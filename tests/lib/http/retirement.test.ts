import { beforeAll, describe, expect, it, vi } from "vitest";
import { GET as changesPage } from "@/app/(pages)/changes/route";
import { GET as changesFeed } from "@/app/changes.atom/route";
import { dayMs } from "@/lib/config/durations";
import { documents, isDocumentPath } from "@/lib/docs/documents";
import { policy } from "@/lib/docs/documents/policy";
import { openApiDocument } from "@/lib/docs/openapi";
import { handleOperation } from "@/lib/http/handler";
import { type Operation, operations } from "@/lib/http/register/operations";
import { checkRetirements, listRetirements } from "@/lib/http/retirement";
import type { Retirement } from "@/lib/http/route";

const announcedMs = Date.parse("2027-01-01T00:00:00Z");
const inDays = (days: number) => new Date(announcedMs + days * dayMs).toISOString();
const retirement: Retirement = {
  announcedAt: inDays(0),
  deprecatedAt: "2027-02-01T00:00:00Z",
  sunsetAt: "2027-05-01T00:00:00Z",
  guide: "/docs/api/policy#how-something-is-retired",
};
const announced = {
  deprecation: "@1801440000",
  sunset: "Sat, 01 May 2027 00:00:00 GMT",
  link:
    '<https://office.example.com/docs/api/policy>; rel="deprecation"; type="text/html", ' +
    '<https://office.example.com/docs/api/policy#how-something-is-retired>; rel="sunset"; type="text/html"',
};
const sunsetMs = Date.parse(retirement.sunsetAt);
const headersOf = ({ headers }: Response) => ({
  deprecation: headers.get("deprecation"),
  sunset: headers.get("sunset"),
  link: headers.get("link"),
});

beforeAll(() => vi.stubEnv("APP_URL", "https://office.example.com"));

describe("an operation being retired", () => {
  const { GET } = handleOperation({ ...operations.siteBanner, retirement }, {}, () => ({
    status: 200,
    body: { banner: null },
  }));

  it("says when on every answer: Deprecation (RFC 9745), Sunset (RFC 8594) and where the guide is", async () => {
    const good = await GET(new Request("https://office.example.com/api/site-banner"));
    const bad = await GET(
      new Request("https://office.example.com/api/site-banner", { headers: { "api-version": "2" } }),
    );
    expect([good.status, bad.status]).toEqual([200, 400]);
    for (const answer of [good, bad]) expect(headersOf(answer)).toEqual(announced);
  });

  it("answers as before until the last millisecond, then 410 not_found with the guide, and the same headers", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const ask = (method: string) =>
      GET(new Request("https://office.example.com/api/site-banner", { method }));
    vi.setSystemTime(sunsetMs - 1);
    expect((await ask("GET")).status).toBe(200);
    vi.setSystemTime(sunsetMs);
    const gone = await ask("GET");
    expect(gone.status).toBe(410);
    expect(headersOf(gone)).toEqual(announced);
    expect(gone.headers.get("cache-control")).toBe("no-store");
    expect(gone.headers.get("access-control-allow-origin")).toBe("*");
    expect(await gone.json()).toEqual({
      error: {
        code: "not_found",
        message: "This operation has been retired.",
        hint: "Follow the migration guide: https://office.example.com/docs/api/policy#how-something-is-retired",
        docs: "https://office.example.com/docs/api/errors#not_found",
      },
    });
    expect(await ask("HEAD")).toMatchObject({ status: 410, body: null });
    expect((await ask("OPTIONS")).status, "so that a browser reads the 410").toBe(204);
    vi.useRealTimers();
  });

  it("is announced on its page, in the policy, the page of changes and its feed, and 410 is documented for it alone", async () => {
    const before = openApiDocument().paths;
    expect(policy.markdown()).toContain("No public operation is currently deprecated.");
    const retired: Operation = operations.siteBanner;
    retired.retirement = retirement;
    try {
      expect(openApiDocument().paths["/api/site-banner"]).toHaveProperty([
        "get",
        "responses",
        "410",
        "content",
        "application/json",
        "examples",
        "not_found",
      ]);
      expect(openApiDocument().paths["/api/site-banner"]?.get).toMatchObject({ deprecated: true });
      expect(policy.markdown()).toContain("- **GET /api/site-banner:** announced 2027-01-01T00:00:00.000Z");
      expect(policy.markdown()).not.toContain("No public operation is currently deprecated.");
      const page = documents.find(({ title }) => title === "GET /api/site-banner")?.markdown();
      expect(page).toContain(
        "**Being retired:** announced 2027-01-01T00:00:00.000Z, deprecated from 2027-02-01",
      );
      expect(page).toMatch(/\| 410 \| .*`not_found`.* \| The operation has been retired/);
      const asked = new Request("https://office.example.com/changes");
      const changes = await (await changesPage(asked)).text();
      expect(changes).toContain('<li id="get-api-site-banner">GET /api/site-banner');
      const feed = await (await changesFeed(new Request(`${asked.url}.atom`))).text();
      expect(feed).toContain("<title>GET /api/site-banner is being retired</title>");
      expect(feed.indexOf("is being retired"), "the newest comes first").toBeLessThan(
        feed.indexOf("<title>1.0.0</title>"),
      );
      expect(feed).toContain("<updated>2027-01-01T00:00:00.000Z</updated>\n<author>");
    } finally {
      delete retired.retirement;
    }
    expect(JSON.stringify(before)).not.toContain('"410"');
  });
});

describe("checkRetirements", () => {
  const check = (changed: Partial<Retirement>, nowMs = announcedMs) => {
    const register = {
      old: { ...operations.siteBanner, retirement: { ...retirement, ...changed } },
    } satisfies Record<string, Operation>;
    return () => checkRetirements(listRetirements(register), nowMs, isDocumentPath);
  };

  it("accepts what is announced now, and ends with the shortest notice on the day of the deprecation", () => {
    const sunsetAt = inDays(90);
    expect(check({ sunsetAt, deprecatedAt: sunsetAt })).not.toThrow();
    expect(check({ deprecatedAt: inDays(0) })).not.toThrow();
    expect(check({}, sunsetMs), "what is past its sunset answers 410").not.toThrow();
  });

  it.each<[Partial<Retirement>, string, number?]>([
    [
      { sunsetAt: new Date(announcedMs + 90 * dayMs - 1).toISOString() },
      "ends less than 90 days after its announcement",
    ],
    [{ deprecatedAt: "2027-05-01T00:00:01Z" }, "ends before its deprecation"],
    [{ deprecatedAt: "2026-12-31T23:59:59Z" }, "is deprecated before its announcement"],
    [{ sunsetAt: "soon" }, "has a date that is not ISO 8601"],
    [{ deprecatedAt: "1" }, "has a date that is not ISO 8601"],
    [{}, "is announced in the future", announcedMs - 1],
    [{ guide: "/docs/nothing" }, "has a guide that does not open: /docs/nothing"],
    [{ guide: "/docs/api/policy#nothing" }, "has a guide that does not open: /docs/api/policy#nothing"],
  ])("refuses %j: it %s", (changed, fault, nowMs) => {
    expect(check(changed, nowMs)).toThrow(`The retirement of GET /api/site-banner ${fault}.`);
  });
});
