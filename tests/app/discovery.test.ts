import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { markdownPath } from "@/lib/http/register/pages";
import { clientFiles } from "@/lib/http/register/publications";
import { startService } from "@/tests/support/block";
import { unconfigured } from "@/tests/support/unconfigured";

const appUrl = "https://office.example.org";
const service = await startService({ APP_URL: appUrl, SUPPORT_EMAIL: "help@example.org" });

const published = [
  ["/openapi.json", "application/json"],
  ["/llms.txt", "text/plain; charset=utf-8"],
  ["/llms-full.txt", "text/plain; charset=utf-8"],
  ["/.well-known/api-catalog", 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
  ["/.well-known/security.txt", "text/plain; charset=utf-8"],
  ["/.well-known/mcp/server.json", "application/json"],
  ["/robots.txt", "text/plain; charset=utf-8"],
  ["/sitemap.xml", "application/xml"],
  ["/docs/api.md", "text/markdown; charset=utf-8"],
] as const;

describe("publications for programs", () => {
  it.each(published)("%s is readable from any origin, and answers 304 if unchanged", async (path, type) => {
    const first = await service.ask(path);
    expect(first.status).toBe(200);
    expect(first.headers["content-type"]).toBe(type);
    expect(first.headers["access-control-allow-origin"]).toBe("*");
    expect(first.headers["cache-control"]).toBe("public, max-age=300");
    const etag = first.headers.etag ?? "";
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await service.ask(path, { headers: { "If-None-Match": known } });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers.etag).toBe(etag);
    }
    expect((await service.ask(path, { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
    const head = await service.ask(path, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.etag).toBe(etag);
  });

  it.each(published.map(([path]) => path))("%s contains only our own URL", async (path) => {
    const { text } = await service.ask(path, { headers: { Host: "evil.example" } });
    expect(text).toContain(appUrl);
    expect(text).not.toMatch(/localhost|evil\.example|office\.example\.com/);
  });
});

it("/.well-known/mcp/server.json is an entry for the MCP registry, named after our host, by its schema of 2025-12-11", async () => {
  const entry = JSON.parse((await service.ask("/.well-known/mcp/server.json")).text);
  expect(entry).toEqual({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "org.example.office/corner-office",
    title: expect.stringMatching(/^.{1,100}$/),
    description: expect.stringMatching(/^.{1,100}$/),
    version: "1.0.0",
    websiteUrl: expect.stringMatching(/^https:/),
    icons: expect.any(Array),
    remotes: [{ type: "streamable-http", url: `${appUrl}/mcp` }],
  });
  for (const { src, ...icon } of entry.icons) {
    expect(icon).toEqual({
      mimeType: expect.stringMatching(/^image\/(?:png|svg\+xml)$/),
      sizes: [expect.stringMatching(/^(?:\d+x\d+|any)$/)],
    });
    expect((await service.ask(new URL(src).pathname)).status, src).toBe(200);
  }
});

it("/ links to the API catalog, the description and the documents (RFC 9727, RFC 8631)", async () => {
  expect((await service.ask("/")).headers.link).toBe(
    '</.well-known/api-catalog>; rel="api-catalog", ' +
      '</openapi.json>; rel="service-desc"; type="application/json", ' +
      '</docs>; rel="service-doc"; type="text/html"',
  );
});

it("/.well-known/api-catalog links to every endpoint, the description, the documents and the status of the API (RFC 9727)", async () => {
  const { text, headers } = await service.ask("/.well-known/api-catalog", { method: "HEAD" });
  expect(text).toBe("");
  expect(headers.link).toBe(
    `<${appUrl}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"`,
  );
  const { linkset } = JSON.parse((await service.ask("/.well-known/api-catalog")).text) as {
    linkset: ({ anchor: string } & Record<string, { href: string }[]>)[];
  };
  const endpoints = [...Object.values(operations).map(({ path }) => path), ...mcpServer.paths];
  const [own, ...described] = linkset;
  expect(own?.item?.map(({ href }) => href)).toEqual(endpoints.map((path) => appUrl + path));
  expect(described.map(({ anchor }) => anchor)).toEqual(own?.item?.map(({ href }) => href));
  for (const path of endpoints) expect((await service.ask(path)).status, path).not.toBe(404);
  const links = described.flatMap(({ anchor, ...relations }) => Object.values(relations).flat());
  for (const href of new Set(links.map(({ href }) => href))) {
    expect((await service.ask(href.slice(appUrl.length))).status, href).toBe(200);
  }
});

it("/.well-known/openai-apps-challenge is the operator's token alone, and nothing without one", async () => {
  const path = "/.well-known/openai-apps-challenge";
  expect((await service.ask(path)).status).toBe(404);
  const listed = await startService({ OPENAI_APPS_CHALLENGE: "A467Dv1LPRa1lx-_wJsqHtyqKXDRCIVDnRA2xskw8" });
  const { status, headers, text } = await listed.ask(path);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(text).toBe("A467Dv1LPRa1lx-_wJsqHtyqKXDRCIVDnRA2xskw8");
});

describe("/.well-known/security.txt", () => {
  it("has a contact and expires within a year (RFC 9116)", async () => {
    const { text } = await service.ask("/.well-known/security.txt");
    expect(text).toContain("Contact: mailto:help@example.org\n");
    const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? "");
    expect(expires).toBeGreaterThan(Date.now());
    expect(expires).toBeLessThan(Date.now() + 365 * 24 * 60 * 60 * 1000);
  });

  it("answers 404 without a support email", async () => {
    expect((await (await unconfigured()).ask("/.well-known/security.txt")).status).toBe(404);
  });
});

it("/llms.txt, /sitemap.xml and /robots.txt list every document", async () => {
  const llms = (await service.ask("/llms.txt")).text;
  const sitemap = (await service.ask("/sitemap.xml")).text;
  for (const { path, title } of documents) {
    expect(llms).toContain(`- [${title}](${appUrl}${path}.md): `);
    expect(sitemap).toContain(`<loc>${appUrl}${path}</loc>`);
  }
  expect((await service.ask("/robots.txt")).text).toContain(`Sitemap: ${appUrl}/sitemap.xml\n`);
});

it("/llms.txt lists the client files and the MCP server that asks for sign-in when connecting", async () => {
  const { text } = await service.ask("/llms.txt");
  for (const { path } of Object.values(clientFiles)) expect(text).toContain(`(${appUrl}${path})`);
  expect(text).toContain(`(${appUrl}/mcp/account)`);
});

it("/llms-full.txt is the Markdown of every document, in reading order, linked from /llms.txt", async () => {
  const texts = await Promise.all(
    documents.map(async ({ path }) => (await service.ask(markdownPath(path))).text),
  );
  expect((await service.ask("/llms-full.txt")).text).toBe(texts.join("\n"));
  expect((await service.ask("/llms.txt")).text).toContain(`(${appUrl}/llms-full.txt)`);
});

it("/docs/search.json answers with the hits of the search, or an empty list", async () => {
  const hits = JSON.parse((await service.ask("/docs/search.json?q=trial_ended")).text);
  expect(hits[0].path).toBe("/docs/api/errors#trial_ended");
  for (const query of ["", "?q=", "?q=%00", `?q=${"x".repeat(3000)}`]) {
    const { status, text } = await service.ask(`/docs/search.json${query}`);
    expect([status, text]).toEqual([200, "[]"]);
  }
});
