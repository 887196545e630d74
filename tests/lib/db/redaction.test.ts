import type { CompiledQuery, KyselyPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import { findMentions, mentionsOfEmail, mentionsOfId } from "@/lib/db/redaction";
import { engines } from "@/tests/support/engines";

const email = "ann.lee@example.com";

describe.each(engines)("mentions of an address on $name", (engine) => {
  it("are found among 50,000 entries, in short pages that use an index", async () => {
    const stage = await engine.prepare();
    const { DATABASE_URL } = stage.environment;
    const db = await stage.open();
    const [numbers, random] = DATABASE_URL
      ? ["SELECT n FROM generate_series(1, 50000) AS n", "gen_random_uuid()::text"]
      : [
          "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 50000) SELECT n FROM r",
          "lower(hex(randomblob(16)))",
        ];
    await stage.query(
      `INSERT INTO audit_entries (id, at_ms, who, what, whom, after)
       SELECT ${random}, n, 'owner', 'sign in', 'someone' || n || '@example.com', '{"session":"' || n || '"}' FROM (${numbers}) AS numbers`,
    );
    await stage.query(`INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after) VALUES
      ('first', 0, 'clerk', 'x', 'Ann.Lee@Example.com', NULL, NULL),
      ('middle', 25000, 'clerk', 'x', NULL, '{"message":"Thanks, ANN.LEE@example.com"}', NULL),
      ('last', 60000, 'clerk', 'x', NULL, NULL, '["ann.lee@example.com"]'),
      ('other', 1, 'clerk', 'x', 'ann-lee@example.com', NULL, NULL)`);
    if (DATABASE_URL) await stage.query("ANALYZE audit_entries");

    const queries: CompiledQuery[] = [];
    const sizes: number[] = [];
    const watch: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        queries.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      async transformResult({ result }) {
        sizes.push(result.rows.length);
        return result;
      },
    };
    const found = await findMentions(db.withPlugin(watch), "audit_entries", [
      { mention: mentionsOfEmail(email), by: "somebody" },
    ]);
    expect(found).toEqual([
      [0, "first"],
      [25000, "middle"],
      [60000, "last"],
    ]);
    expect(sizes).toHaveLength(101);
    expect(Math.max(...sizes)).toBe(500);

    const explain = DATABASE_URL ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
    for (const query of queries.slice(0, 2)) {
      const { rows } = await db.executeQuery({ ...query, sql: `${explain} ${query.sql}` });
      expect(JSON.stringify(rows)).toMatch(
        /Index Scan using audit_entries_at |(SCAN|SEARCH) audit_entries USING INDEX audit_entries_at/,
      );
      expect(JSON.stringify(rows)).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
    }
    await stage.clear();
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
