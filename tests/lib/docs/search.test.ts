import { describe, expect, it } from "vitest";
import { searchDocuments } from "@/lib/docs/search";
import { refusals } from "@/tests/support/refusals";

describe("searchDocuments", () => {
  it.each([
    ["trial ended", "/docs/api/errors#trial_ended"],
    ["balance_unavailable", "/docs/api/errors#balance_unavailable"],
    ["rate limit headers", "/docs/api/limits#headers"],
    ["how does a program get a token", "/docs/authentication#how-a-program-gets-a-token"],
    ["connect VS Code", "/docs/mcp#vs-code"],
    ["unsubscribe", "/docs/api/unsubscribe"],
    ["change log", "/docs/api/policy#change-log"],
    ["MIGRATION guide", "/docs/api/policy#how-something-is-retired"],
    ["quick", "/docs"],
    ["credits balance", "/docs/api/credits-balance"],
  ])("finds %j first at %s", (query, path) => {
    expect(searchDocuments(query, 5)[0]?.path).toBe(path);
  });

  it.each(Object.keys(refusals))("finds the section of the code %s", (code) => {
    expect(searchDocuments(code, 1)[0]?.path).toBe(`/docs/api/errors#${code}`);
  });

  it.each([
    ["how is a version retired", "/docs/api/policy#how-something-is-retired"],
    ["when is an endpoint removed", "/docs/api/policy#how-something-is-retired"],
    ["breaking changes", "/docs/api/policy#what-can-change-within-a-version"],
    ["api version header", "/docs/api/policy#selecting-a-version"],
    ["api key", "/docs/authentication#how-a-program-gets-a-token"],
    ["sign up", "/docs/authentication#how-a-program-gets-a-token"],
    ["wait list", "/docs/authentication#how-a-program-gets-a-token"],
    ["refresh token", "/docs/authentication#how-long-a-token-lives"],
    ["token expired", "/docs/authentication#how-long-a-token-lives"],
    ["may I paste a token into a chat", "/docs/authentication#keeping-it-safe"],
    ["log in", "/docs/api/errors#signed_out"],
    ["CORS", "/docs/api/site-banner"],
    ["is the service down", "/docs/api/health"],
    ["how often should I check", "/docs#4-put-it-into-your-app"],
    ["rate limit", "/docs/api/limits"],
    ["429 retry", "/docs/api/limits#backing-off"],
    ["exponential backoff", "/docs/api/limits#backing-off"],
    ["maximum body size", "/docs/api/limits#sizes-and-deadlines"],
    ["timeout", "/docs/api/limits#sizes-and-deadlines"],
    ["generate an SDK", "/docs/api#generate-a-client"],
    ["entitlment", "/docs/api/entitlement"],
    ["unsubscibe", "/docs/api/unsubscribe"],
    ["balence", "/docs/api/credits-balance"],
    ["Crédits", "/docs/api/credits-balance"],
    ["what does trial-ended mean", "/docs/api/errors#trial_ended"],
    ["connect claude", "/docs/mcp#claude-and-chatgpt"],
    ["vscode", "/docs/mcp#vs-code"],
    ["connect an app", "/docs/connect"],
    ["device code", "/docs/connect#a-program-in-a-terminal"],
  ])("finds %j among the first three at %s", (query, path) => {
    expect(searchDocuments(query, 3).map((hit) => hit.path)).toContain(path);
  });

  it.each(["the weather in Paris", "quantum entanglement", "zebra crossing", "Überprüfung", "東京", "🦓"])(
    "finds nothing for %j",
    (query) => {
      expect(searchDocuments(query, 3)).toEqual([]);
    },
  );

  it("finds a word by its beginning", () => {
    for (const typed of ["unsu", "unsub", "unsubscri"]) {
      expect(searchDocuments(typed, 3).map(({ path }) => path)).toContain("/docs/api/unsubscribe");
    }
  });

  it("returns plain text snippets, best first, up to the limit", () => {
    const hits = searchDocuments("session token", 4);
    expect(hits).toHaveLength(4);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
    for (const { snippet, title } of hits) {
      expect(snippet.length).toBeLessThanOrEqual(200);
      expect(snippet + title).not.toMatch(/[`*|]|\]\(|<\/?[a-z]+>/);
    }
  });

  it("finds nothing for empty, common or unknown words", () => {
    for (const query of ["", "  ", "the of and", "xylophone", "<script>", "a".repeat(5000), "(.*"]) {
      expect(searchDocuments(query, 5)).toEqual([]);
    }
  });

  it("returns the same hits for the same query", () => {
    expect(searchDocuments("quota", 10)).toEqual(searchDocuments("quota", 10));
  });
});
