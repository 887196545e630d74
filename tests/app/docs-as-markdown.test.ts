import { describe, expect, it } from "vitest";
import { documentPages, markdownPath } from "@/lib/http/pages";
import { borrowService } from "@/tests/support/block";

const { service } = await borrowService();

const html = "text/html; charset=utf-8";
const markdown = "text/markdown; charset=utf-8";

describe("a document", () => {
  it.each([
    ["text/markdown", markdown],
    ["text/markdown, text/html;q=0.9, */*;q=0.1", markdown],
    ["text/markdown;q=0.5, text/html", html],
    ["text/markdown;q=0", html],
    ["text/html,application/xhtml+xml,*/*;q=0.8", html],
    ["*/*", html],
    ["text/markdown;q=x", html],
  ])("for %j is %s", async (accept, type) => {
    const { status, headers } = await service.ask(documentPages.limits.path, { headers: { accept } });
    expect([status, headers["content-type"]]).toEqual([200, type]);
    expect(String(headers.vary).split(/, ?/)).toContain("Accept");
  });

  it.each(Object.values(documentPages))(
    "$path is the same Markdown as at its path with .md",
    async ({ path }) => {
      const form = await service.ask(markdownPath(path));
      const asked = await service.ask(path, { headers: { accept: "text/markdown" } });
      expect(asked.text).toBe(form.text);
      expect(asked.headers["content-location"]).toBe(markdownPath(path));
      const page = await service.ask(path);
      expect(page.headers.etag).not.toBe(asked.headers.etag);
      const stale = { accept: "text/markdown", "if-none-match": String(page.headers.etag) };
      expect((await service.ask(path, { headers: stale })).status).toBe(200);
    },
  );
});

it("/llms.txt lists the client files and the MCP server that asks for sign-in when connecting", async () => {
  const { text } = await service.ask("/llms.txt");
  for (const path of ["corner-office.ts", "corner_office.py", "CornerOffice.swift", "CornerOffice.kt"]) {
    const [, url] = new RegExp(`\\[${path}\\]\\((\\S+)\\)`).exec(text) ?? [];
    expect((await service.ask(String(url).replace(service.url, ""))).status).toBe(200);
  }
  expect(text).toContain(`(${service.url}/mcp/account)`);
});
