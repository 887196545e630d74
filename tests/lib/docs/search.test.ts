import MiniSearch, { type Query } from "minisearch";
import { describe, expect, it, vi } from "vitest";
import { isDocumentPath } from "@/lib/docs/documents";
import { searchDocuments } from "@/lib/docs/search";
import { sectionWords } from "@/lib/docs/search-words";
import { errorCatalogue } from "@/lib/http/errors";
import { newcomers, sentences } from "@/tests/lib/docs/search-questions";

/** How many words a query looks up: in all, by their beginning, and with typing errors. */
function countWords(query: Query, split: (text: string) => string[]) {
  const words = { exact: 0, begun: 0, guessed: 0 };
  const count = (part: Query): void => {
    if (typeof part !== "object") return;
    for (const one of part.queries) {
      if (typeof one !== "string") count(one);
      else {
        const { length } = split(one);
        words.exact += length;
        words.begun += part.prefix ? length : 0;
        words.guessed += part.fuzzy ? length : 0;
      }
    }
  };
  count(query);
  return words;
}

describe("searchDocuments", () => {
  it.each([
    ["trial ended", "/docs/api/errors#trial_ended"],
    ["rate limit headers", "/docs/api/limits#headers"],
    ["how does a program get a token", "/docs/authentication#how-a-program-gets-a-token"],
    ["connect VS Code", "/docs/mcp#vs-code"],
    ["change log", "/docs/api/policy#change-log"],
    ["MIGRATION guide", "/docs/api/policy#how-something-is-retired"],
    ["credits balance", "/docs/api/credits-balance"],
  ])("finds %j first at %s", (query, path) => {
    expect(searchDocuments(query, 5)[0]?.path).toBe(path);
  });

  it.each([
    ["/api/entitlement", "/docs/api/entitlement"],
    ["POST /api/email/unsubscribe", "/docs/api/unsubscribe"],
    ["token", "/docs/authentication#what-a-token-is"],
    ["verify a token", "/docs/authentication#what-a-token-is"],
    ["refresh", "/docs/connect#renew-a-token"],
    ["refresh token", "/docs/connect#renew-a-token"],
    ["401", "/docs/authentication"],
    ["429", "/docs/api/limits#backing-off"],
    ["rate_limited", "/docs/api/limits"],
    ["changelog", "/docs/api/policy#change-log"],
    ["curl", "/docs"],
    ["status codes", "/docs/api#statuses"],
  ])("finds what a developer types, %j, first at %s", (query, path) => {
    expect(searchDocuments(query, 1)[0]?.path).toBe(path);
  });

  it.each(Object.keys(errorCatalogue))("finds the section of the code %s", (code) => {
    expect(searchDocuments(code, 1)[0]?.path).toBe(`/docs/api/errors#${code}`);
  });

  it.each([
    ["how is a version retired", "/docs/api/policy#how-something-is-retired"],
    ["api version header", "/docs/api/policy#selecting-a-version"],
    ["sign up", "/docs/authentication#how-a-program-gets-a-token"],
    ["token expired", "/docs/authentication#how-long-a-token-lives"],
    ["CORS", "/docs/api/site-banner"],
    ["rate limit", "/docs/api/limits"],
    ["429 retry", "/docs/api/limits#backing-off"],
    ["maximum body size", "/docs/api/limits#sizes-and-deadlines"],
    ["generate an SDK", "/docs/api#generate-a-client"],
    ["entitlment", "/docs/api/entitlement"],
    ["Crédits", "/docs/api/credits-balance"],
    ["vscode", "/docs/mcp#vs-code"],
    ["connect an app", "/docs/connect"],
    ["which features does the plan contain", "/docs/plans"],
    ["feature flags", "/docs/plans"],
    ["unlimited", "/docs/plans#ask-for-a-feature-or-a-limit"],
    ["strict decoder new fields", "/docs/plans#read-it-leniently"],
  ])("finds %j among the first three at %s", (query, path) => {
    expect(searchDocuments(query, 3).map((hit) => hit.path)).toContain(path);
  });

  it.each([
    ["sign in", "/docs/authentication"],
    ["credits", "/docs/api/credits-balance"],
    ["entitlement", "/docs/api/entitlement"],
    ["swift", "/docs/client"],
    ["webhook", "/docs/webhooks"],
    ["scopes", "/docs/connect#scopes-and-resources"],
    ["SDK", "/docs/client"],
    ["support", "/docs/support"],
  ])("finds the page about %j before an error code that mentions it", (query, path) => {
    expect(searchDocuments(query, 1)[0]?.path.split("#")[0]).toBe(path.split("#")[0]);
    expect(searchDocuments(query, 2).map((hit) => hit.path)).toContain(path);
  });

  it.each(newcomers)("finds %j first at %s", (question, path) => {
    expect(searchDocuments(question, 1).map((hit) => hit.path)).toEqual([path]);
  });

  it("finds most questions that people ask as first or second hit, and none without one", () => {
    const hits = sentences.map(([question, ...answers]) => ({
      answers,
      found: searchDocuments(question, 2),
    }));
    const answered = hits.filter(({ answers, found }) => found.some(({ path }) => answers.includes(path)));
    expect(answered.length).toBeGreaterThanOrEqual(34);
    expect(hits.filter(({ found }) => found.length === 0)).toEqual([]);
  });

  it.each([
    `${"s_c_a_".repeat(33)}s`,
    "co ap se to re ".repeat(13),
    "entitlemen".repeat(20),
    "unsubscrib credentialz authorizat ".repeat(6),
    "key token credential password secret quota limit rate wait retry backoff sdk library client",
  ])("looks up a bounded number of words for %j", (query) => {
    const search = vi.spyOn(MiniSearch.prototype, "search");
    searchDocuments(query.slice(0, 200), 20);
    const [[asked, options = {}] = []] = search.mock.calls;
    search.mockRestore();
    const split = options.tokenize ?? ((text: string) => text.split(/[_ ]/));
    const { exact, guessed, begun } = countWords(asked as Query, split);
    expect(exact).toBeLessThanOrEqual(80);
    expect(begun).toBeLessThanOrEqual(12);
    expect(guessed).toBeLessThanOrEqual(12);
  });

  it("has words only for sections that exist", () => {
    expect(Object.keys(sectionWords).filter((path) => !isDocumentPath(path))).toEqual([]);
  });

  it("keeps code and tables out of snippets", () => {
    for (const query of ["CompanyGate", "curl", "ContinuousClock", "token"]) {
      for (const { snippet } of searchDocuments(query, 50)) {
        expect(snippet).not.toMatch(/\b(?:const|def|func|import) |[{}]|=>|curl -/);
      }
    }
  });

  it("finds a word by its beginning", () => {
    for (const typed of ["unsu", "unsub", "unsubscri"]) {
      expect(searchDocuments(typed, 3).map(({ path }) => path)).toContain("/docs/api/unsubscribe");
    }
  });

  it("returns plain text snippets, up to the limit", () => {
    const hits = searchDocuments("session token", 4);
    expect(hits).toHaveLength(4);
    for (const { snippet, title } of hits) {
      expect(snippet.length).toBeLessThanOrEqual(200);
      expect(snippet + title).not.toMatch(/[`*|]|\]\(|<\/?[a-z]+>/);
    }
  });

  it("finds nothing for empty, common or unknown words", () => {
    for (const query of ["", "  ", "the of and", "xylophone", "<marquee>", "a".repeat(5000), "(.*"]) {
      expect(searchDocuments(query, 5)).toEqual([]);
    }
  });
});
