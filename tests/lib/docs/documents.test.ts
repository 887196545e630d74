import { describe, expect, it } from "vitest";
import { groups } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { errorCatalogue } from "@/lib/http/errors";
import { type Page, pages as register } from "@/lib/http/register/pages";
import { borrowService } from "@/tests/support/block";
import type { Answer, Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

/** What a service answers at each address, which is asked once. */
function reader(to: Service) {
  const answers = new Map<string, Promise<Answer>>();
  return (path: string) => {
    const answer = answers.get(path) ?? to.ask(path);
    answers.set(path, answer);
    return answer;
  };
}

const { service } = await borrowService();
const read = reader(service);
const pages = new Map<string, string>();
for (const { path } of documents) pages.set(path, (await read(path)).text);

const idsOf = (html = "") => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
const textOf = (html = "") => html.replace(/<[^>]+>/g, "").replace(/&(quot|lt|gt|amp|#x27);/g, " ");

/** Pages that redirect visitors who are not signed in or have not requested a code. */
const closed = Object.values<Page>(register).filter(
  ({ access, path }) => access === "session" || path === register.code.path,
);

describe("every page", () => {
  const paths = Object.values<Page>(register).filter(
    (page) => page.access === "anyone" && !closed.includes(page),
  );

  it.each(paths)("$path has no broken links", async ({ path }) => {
    const html = (await read(path)).text;
    const targets = [...html.matchAll(/ href="(\/[^"]*|#[^"]+)"/g)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(0);
    for (const target of new Set(targets)) {
      const [page = "", anchor] = target.split("#");
      if (closed.some(({ path }) => path === page)) continue;
      const linked = await read(page || path);
      if (page) expect(linked.status, target).toBe(200);
      if (anchor) expect(idsOf(linked.text), target).toContain(anchor);
    }
  });

  it.each(documents.map(({ path }) => path))("%s has one h1 and unique anchors", (path) => {
    const html = pages.get(path) ?? "";
    expect(html.match(/<h1>/g)).toHaveLength(1);
    const ids = idsOf(html);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it("have samples of at most thirty lines beside the text, and longer ones below it", () => {
    const longest = (html: string) =>
      Math.max(0, ...[...html.matchAll(/<pre.*?<\/pre>/gs)].map(([sample]) => sample.split("\n").length));
    const all = [...pages.values()].join("");
    const beside = all.split('<div class="samples">').slice(1);
    expect(longest(beside.map((rest) => rest.split("</div><div>")[0]).join(""))).toBeLessThan(30);
    expect(longest(all)).toBeGreaterThan(30);
  });

  it.each(documents)("$path is available as Markdown with absolute links", async (document) => {
    const page = await read(document.path);
    expect(page.headers.link).toContain(`<${document.path}.md>; rel="alternate"; type="text/markdown"`);
    const { status, headers, text } = await service.ask(`${document.path}.md`);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(headers.link).toBe(`<${service.url}${document.path}>; rel="canonical"; type="text/html"`);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(text).toMatch(new RegExp(`^# ${document.title}\n`));
    expect(text).not.toContain("](/");
    expect(text).not.toContain("office.example.com");
    const accept = "text/markdown";
    const asked = await service.ask(document.path, { headers: { accept } });
    expect(asked.text, "to who prefers it at the page's own path").toBe(text);
    expect(asked.headers["content-location"]).toBe(`${document.path}.md`);
    expect(asked.headers.etag).not.toBe(page.headers.etag);
    const stale = { accept, "if-none-match": String(page.headers.etag) };
    expect((await service.ask(document.path, { headers: stale })).status).toBe(200);
  });

  const html = "text/html; charset=utf-8";
  const markdown = "text/markdown; charset=utf-8";
  it.each([
    ["text/markdown", markdown],
    ["text/markdown, text/html;q=0.9, */*;q=0.1", markdown],
    ["text/markdown;q=0.5, text/html", html],
    ["text/markdown;q=0", html],
    ["text/html,application/xhtml+xml,*/*;q=0.8", html],
    ["*/*", html],
    ["text/markdown;q=x", html],
    ["text/markdown;charset=utf-8", markdown],
    ["text/markdown;q=0.5, text/html;level=1;q=0.1", markdown],
    ["text/markdown ; q=0.5 , TEXT/HTML; charset=utf-8 ;Q=0.6", html],
    ['text/markdown;profile="a, b;q=0", text/html;q=0.9', markdown],
  ])("of a document is for %j %s", async (accept, type) => {
    const { status, headers } = await service.ask("/docs/api/limits", { headers: { accept } });
    expect([status, headers["content-type"]]).toEqual([200, type]);
    expect(String(headers.vary).split(/, ?/)).toContain("Accept");
  });
});

describe("without sign-in", () => {
  it("no page links to a page that needs sign-in", async () => {
    const needsSignIn = Object.values<Page>(register).flatMap(({ path, access, under }) =>
      access === "session" || under ? [path] : [],
    );
    needsSignIn.push(register.signIn.path);
    const readClosed = reader(await unconfigured());
    for (const { path, access } of Object.values<Page>(register)) {
      if (access !== "anyone" || needsSignIn.includes(path)) continue;
      const { text } = await readClosed(path);
      const targets = [...text.matchAll(/ (?:href|action)="(\/[^"#?]*)/g)].map(([, target = ""]) => target);
      expect(targets.length).toBeGreaterThan(0);
      for (const target of new Set(targets)) {
        expect(needsSignIn, `${path} leads to ${target}`).not.toContain(target);
        const { status } = await readClosed(target);
        // 405: the target of a form.
        expect([200, 405], `${path} leads to ${target}`).toContain(status);
      }
    }
  });
});

describe("/docs/api/errors", () => {
  it("has one section per code with its senders, its status, when it is sent and what to do", () => {
    const html = pages.get("/docs/api/errors") ?? "";
    const anchors = [...html.matchAll(/<section id="([^"]+)"/g)].map(([, anchor]) => anchor);
    const codes = Object.keys(errorCatalogue);
    expect(anchors).toEqual(codes);
    for (const words of ["Sent by:", "Status:", "When:", "What to do:"]) {
      expect(html.split(`<strong>${words}</strong>`)).toHaveLength(codes.length + 1);
    }
    expect(textOf(html)).toContain("Sent by: GET /api/entitlement\nStatus: 503");
    expect(textOf(html)).toContain("Sent by: every operation\nStatus: 500");
  });
});

describe("/docs/api/policy", () => {
  it.each([
    "The header API-Version: 1 selects major version 1. It is optional: omitting it selects version 1.",
    "An unsupported version answers 400 with the code invalid_request before the operation runs.",
    "Additive fields and new operations can arrive. Clients ignore unknown fields.",
    "Version 1 stays the default until a published retirement date.",
    "announced here at least 90 days ahead, with a migration guide",
    "Existing behaviour continues through the window. Urgent security fixes may restrict unsafe behaviour immediately.",
    "No public operation is currently deprecated.",
  ])("says: %s", (sentence) => {
    expect(textOf(pages.get("/docs/api/policy"))).toContain(sentence);
  });
});

describe("the warnings about tokens", () => {
  it.each(["/docs", "/docs/authentication", "/docs/mcp"])("are on %s", (path) => {
    const text = textOf(pages.get(path));
    expect(text).toContain("A session cannot make an assistant send, publish, deploy or charge");
    expect(text).toContain("Never put one into a chat, an issue or a log.");
  });
});

describe("the reference", () => {
  const described = documents.flatMap(({ path, operation }) =>
    operation ? [[path, operation] as const] : [],
  );

  it.each(described)("%s has every status, code, field and language", async (path, operation) => {
    const html = pages.get(path) ?? "";
    for (const status of ["200", ...Object.keys(operation.codes)])
      expect(html).toContain(`<td data-column="Status">${status}</td>`);
    for (const code of Object.values(operation.codes).flat()) expect(html).toContain(`#${code}"`);
    for (const language of ["sh", "ts", "python"]) expect(html).toContain(`value="${language}"`);
    for (const [status, codes] of Object.entries(operation.codes)) {
      for (const code of codes) expect(html).toContain(`value="${status} ${code}"`);
    }
    expect(html).toContain(`<aside class="panel"`);
    if (operation.access !== "signed link") expect(html).toContain(`data-runs="${operation.path}"`);
    else expect(html).not.toContain("data-runs");
  });

  it("says of a map what is in it", () => {
    const text = textOf(pages.get("/docs/api/entitlement"));
    expect(text).toMatch(/limits\s*map of integer, at least 0 or null\s*Whole numbers by the names/);
  });

  it("links to the previous and next documents in order", () => {
    const orders = documents.flatMap(({ group }) => (group ? groups.indexOf(group) : []));
    expect(orders).toEqual([...orders].sort((a, b) => a - b));
    const html = pages.get("/docs/client") ?? "";
    expect(html).toContain('rel="prev" href="/docs/authentication"');
    expect(html).toContain('rel="next" href="/docs/plans"');
    expect(pages.get("/docs/support"), "the terms are no document of the API").not.toContain('rel="next"');
  });
});
