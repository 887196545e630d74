import { METHODS } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRaw } from "@/tests/support/answers";
import { borrowService } from "@/tests/support/block";
import { description, faultsOf, type Parameter } from "@/tests/support/description";

const { service } = await borrowService();
await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "1.5");
const token = await service.token("ceo@example.com");
const [, link = ""] = (await service.unsubscribePath("ceo@example.com")).split("token=");

const paths = Object.keys(description.paths);
const { parameters } = description.components;
const all = Object.values(description.paths)
  .flatMap(({ get, post }) => (get ?? post)?.parameters ?? [])
  .map((known) => ("$ref" in known ? (parameters[known.$ref.split("/").at(-1) ?? ""] as Parameter) : known));
const named = (route: Parameter["in"]) => [
  ...new Map(all.filter((known) => known.in === route).map((known) => [known.name, known])).values(),
];

const character = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((at) => String.fromCharCode(at));
const text = (from: number, to: number) =>
  fc.array(character(from, to), { maxLength: 40 }).map((made) => made.join(""));
const anything = text(0x21, 0xff);
const words = text(0x20, 0x7e);

/** A path of the description, or one that differs in a character or two. */
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...paths) },
  fc
    .tuple(
      fc.constantFrom(...paths),
      fc.nat(30),
      fc.oneof(anything, fc.constantFrom("/", "%2e", "..", "//", "%00", "\\")),
    )
    .map(([known, at, odd]) => {
      const cut = Math.max("/api/".length, Math.min(at, known.length));
      return known.slice(0, cut) + odd.replaceAll(/[?#]/g, "") + known.slice(cut);
    }),
);

const query = fc.array(
  fc.tuple(
    fc.oneof(fc.constantFrom(...named("query").map(({ name }) => name)), anything),
    fc.oneof(fc.constantFrom(...named("query").map(({ example }) => example), "<link>"), anything),
  ),
  { maxLength: 3 },
);

const header = fc.oneof(
  ...named("header").map(({ name, example }) =>
    fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(example, ` ${example}`, ""), words)),
  ),
  fc.tuple(
    fc.constant("Authorization"),
    fc.oneof(fc.constantFrom("Bearer <token>", "bearer x", "Basic x", "Bearer"), words),
  ),
  fc.tuple(fc.constant("Cookie"), fc.oneof(fc.constantFrom("__session=<token>", "__session="), words)),
  fc.tuple(
    fc.constantFrom(
      "Origin",
      "Accept",
      "Content-Type",
      "X-Forwarded-For",
      "If-None-Match",
      "Range",
      "Forwarded",
      "Next-Action",
    ),
    words,
  ),
);

const request = fc.record({
  method: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("GET", "POST", "HEAD", "OPTIONS") },
    fc.constantFrom(...METHODS, "BREW", "get"),
  ),
  path,
  query,
  version: fc.constantFrom("1.1", "1.1", "1.0"),
  headers: fc.array(header, { maxLength: 6 }),
  body: fc.oneof(
    fc.constant(""),
    words,
    fc.nat(6000).map((bytes) => "x".repeat(bytes)),
  ),
});

describe("600 requests made from the API description", () => {
  it("are answered as it says, whatever they are", { timeout: 120_000 }, async () => {
    const isDescribed = fc.asyncProperty(request, async ({ method, path, query, version, headers, body }) => {
      const search = query.map(([name, value]) => `${name}=${value}`).join("&");
      const lines = [
        ...headers,
        ["Host", "x"],
        ["Connection", "close"],
        ["Content-Length", String(body.length)],
      ]
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      const sent = `${method} ${path}${search && `?${search}`} HTTP/${version}\r\n${lines}\r\n${body}`
        .replaceAll("<token>", token)
        .replaceAll("<link>", link);
      const answer = readRaw(sent, await service.send(Buffer.from(sent, "latin1")));
      if (!answer) throw new Error("there is not exactly one answer");
      expect(answer.status).toBeLessThan(500);
      expect(faultsOf(answer)).toEqual([]);
    });
    await fc.assert(isDescribed, { seed: 20_261_121, numRuns: 600 });
    expect(service.takeErrors()).toEqual([]);
  });
});
