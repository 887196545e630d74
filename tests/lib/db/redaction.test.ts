import { describe, expect, it } from "vitest";
import { findMentions, mentionsOfEmail, mentionsOfId } from "@/lib/db/redaction";
import { startStage } from "@/tests/support/block";
import { everyEngine } from "@/tests/support/engines";
import { numbersTo, watchQueries } from "@/tests/support/watched-queries";

const email = "ann.lee@example.com";

describe.each(everyEngine)("mentions of an address on $name", async (engine) => {
  const stage = await startStage(engine);

  it("are found among 10,000 entries, in short pages that use an index", async () => {
    await stage.query(
      `INSERT INTO audit_entries (id, at_ms, who, what, whom, after)
       SELECT 'entry-' || (n * 7919 % 10007), n, 'owner', 'sign in', 'someone' || n || '@example.com', '{"session":"' || n || '"}' FROM ${numbersTo(10_000)}`,
    );
    await stage.query(`INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after) VALUES
      ('first', 0, 'clerk', 'x', 'Ann.Lee@Example.com', NULL, NULL),
      ('middle', 5000, 'clerk', 'x', NULL, '{"message":"Thanks, ANN.LEE@example.com"}', NULL),
      ('last', 60000, 'clerk', 'x', NULL, NULL, '["ann.lee@example.com"]'),
      ('other', 1, 'clerk', 'x', 'ann-lee@example.com', NULL, NULL)`);
    await stage.query("ANALYZE audit_entries");

    const { watched, queries, results, planOf } = watchQueries(await stage.open());
    const aliases = [{ mention: mentionsOfEmail(email), by: "somebody" }];
    const found = await findMentions(watched, () => aliases);
    expect(found.map(({ table, key }) => table === "audit_entries" && key)).toEqual([
      [0, "first"],
      [5000, "middle"],
      [60000, "last"],
    ]);
    const sizes = results.map(({ rows }) => rows.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThanOrEqual(10_004);
    expect(Math.max(...sizes)).toBe(500);

    for (const query of queries.filter(({ sql }) => sql.includes("audit_entries")).slice(0, 2)) {
      const plan = await planOf(query);
      expect(plan).toMatch(/(Index Scan using|(SCAN|SEARCH) audit_entries USING INDEX) audit_entries_at/);
      expect(plan).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
    }
  });
});

describe("a mention of an address", () => {
  const replace = (text: string) => text.replace(mentionsOfEmail(email), "X");

  it.each([
    ["Ann.Lee@Example.com, 1st of May", "X, 1st of May"],
    ["<ann.lee@example.com>.", "<X>."],
    ["?to=ann.lee%40example.com&x", "?to=X&x"],
    ["?to%3Dann%2elee%2540example.com%26x", "?to%3DX%26x"],
    ["\\u0022ann.lee\\u0040example.com\\u0022", "\\u0022X\\u0022"],
    ['{"name":"\\nann.lee\\\\u{40}example.com"}', '{"name":"\\nX"}'],
    ["&lt;ann.lee&#64;example&period;com&gt; &#x41;nn.lee&commat;example.com", "&lt;X&gt; X"],
    ["mailto:ann.lee=40example.com", "mailto:X"],
    ["https://x.example/=?u=3Dann=2Elee=40example.com", "https://x.example/=?u=3DX"],
  ])("is replaced in %s", (text, replaced) => {
    expect(replace(text)).toBe(replaced);
  });

  it.each(["", "x", "xy"])("is found in base64 of both alphabets, after %j", (before) => {
    const bytes = Buffer.from(`${before}{"login_hint":"${email}"}`);
    for (const encoding of ["base64", "base64url"] as const) {
      const left = Buffer.from(replace(bytes.toString(encoding)), encoding).toString();
      expect(left).not.toContain("lee@example");
    }
  });

  it.each([
    "other.ann.lee@example.com",
    "joann.lee@example.com",
    "ann.lee@example.community",
    "ann.lee@example.com.au",
  ])("is not found in %s", (text) => {
    expect(replace(text)).toBe(text);
  });

  it("is searched for in linear time, for any text", () => {
    for (const piece of ["%25", "\\", "&#0", "=", "ann.lee@", "a", "%61", "\\u0061"]) {
      const seconds = [20_000, 160_000].map((length) => {
        const text = piece.repeat(length / piece.length);
        const startedAtMs = performance.now();
        replace(text);
        return performance.now() - startedAtMs;
      });
      // Eight times the text must not take 64 times as long.
      expect(seconds[1], piece).toBeLessThan(Math.max(500, 30 * (seconds[0] ?? 0)));
    }
  });
});

describe("a mention of an id", () => {
  it("is found inside a longer text", () => {
    const id = "acc_-Az09_x";
    const replaced = `v1.${id}.x ${encodeURIComponent(id)} ${id.toUpperCase()}`.replace(
      mentionsOfId(id),
      "X",
    );
    expect(replaced).toBe("v1.X.x X X");
  });
});
