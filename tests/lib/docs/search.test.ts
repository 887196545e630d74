import { describe, expect, it } from "vitest";
import { errorCatalogue } from "@/lib/api/errors";
import { searchDocuments } from "@/lib/docs/search";

describe("searchDocuments", () => {
  it.each([
    ["trial ended", "/docs/api/errors#trial_ended"],
    ["balance_unavailable", "/docs/api/errors#balance_unavailable"],
    ["rate limit headers", "/docs/api/limits#headers"],
    ["how does a program get a token", "/docs/authentication#how-a-program-gets-a-token"],
    ["connect VS Code", "/docs/mcp#vs-code"],
    ["unsubscribe", "/docs/api/unsubscribe#request"],
    ["change log", "/docs/api/policy#change-log"],
    ["MIGRATION guide", "/docs/api/policy#how-something-is-retired"],
    ["quick", "/docs"],
    ["credits balance", "/docs/api/credits-balance#request"],
  ])("finds %j first at %s", (query, path) => {
    expect(searchDocuments(query, 5)[0]?.path).toBe(path);
  });

  it.each(Object.keys(errorCatalogue))("finds the section of the code %s", (code) => {
    expect(searchDocuments(code, 1)[0]?.path).toBe(`/docs/api/errors#${code}`);
  });

  it("finds a word while it is typed", () => {
    for (const typed of ["unsu", "unsub", "unsubscri"]) {
      expect(searchDocuments(typed, 3).map(({ path }) => path)).toContain("/docs/api/unsubscribe");
    }
  });

  it("answers short plain text, best first, and no more than was asked for", () => {
    const hits = searchDocuments("session token", 4);
    expect(hits).toHaveLength(4);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
    for (const { snippet, title } of hits) {
      expect(snippet.length).toBeLessThanOrEqual(200);
      expect(snippet + title).not.toMatch(/[`*|]|\]\(|<\/?[a-z]+>/);
    }
  });

  it("finds nothing where there is nothing", () => {
    for (const query of ["", "  ", "the of and", "xylophone", "<script>", "a".repeat(5000), "(.*"]) {
      expect(searchDocuments(query, 5)).toEqual([]);
    }
  });

  it("answers the same to the same", () => {
    expect(searchDocuments("quota", 10)).toEqual(searchDocuments("quota", 10));
  });
});
