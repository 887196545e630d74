import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { Service } from "@/tests/support/service";

const built = documents.map(({ path }) => path);
const rendered = ["/", "/waitlist", "/sign-in", "/docs/search?q=token"];

const scriptsOf = (html: string) =>
  [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].map(([, attributes = "", text = ""]) => ({
    attributes,
    text,
    isInline: !attributes.includes("src="),
  }));
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe.each([
  ["`npm start`", ["dist/front/main.js"]],
  ["plain `next start`", ["node_modules/next/dist/bin/next", "start"]],
])("a page behind %s", (_, program) => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ SIGN_IN: "local" }, { program });
  });
  afterAll(() => service.stop());

  const policyOf = (headers: IncomingHttpHeaders) => {
    const policy = String(headers["content-security-policy"]);
    const directives = policy.split("; ").map((directive) => directive.split(/ (.*)/, 2));
    return Object.fromEntries(directives) as Record<string, string>;
  };

  it.each([...built, ...rendered, "/nothing-here"])("%s runs our scripts and no others", async (path) => {
    const { headers, text } = await service.ask(path);
    const { "script-src": scripts = "", ...others } = policyOf(headers);
    expect(others).toEqual({
      "default-src": "'none'",
      "style-src": "'self'",
      "img-src": "'self' data:",
      "font-src": "'self'",
      "connect-src": "'self'",
      "manifest-src": "'self'",
      "form-action": "'self'",
      "base-uri": "'none'",
      "frame-ancestors": "'none'",
      "object-src": "'none'",
    });
    expect(scripts).not.toMatch(/unsafe|\*|https?:/);
    const inline = scriptsOf(text).filter(({ isInline }) => isInline);
    expect(inline.length).toBeGreaterThan(0);
    const nonce = /'nonce-([^']+)'/.exec(scripts)?.[1];
    for (const { attributes, text: script } of inline) {
      if (nonce) expect(attributes).toContain(`nonce="${nonce}"`);
      else expect(scripts.split(" ")).toContain(hashOf(script));
    }
    expect(text).not.toMatch(/ style="| on[a-z]+="/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  it.each(rendered)("%s has another nonce every time", async (path) => {
    const policies = [await service.ask(path), await service.ask(path)].map(({ headers }) =>
      policyOf(headers),
    );
    expect(policies[0]?.["script-src"]).toContain("'nonce-");
    expect(policies[0]).not.toEqual(policies[1]);
  });

  it("loads at most 10 KB of compressed JavaScript over an empty Next page", async () => {
    const { rootMainFiles, polyfillFiles } = JSON.parse(readFileSync(".next/build-manifest.json", "utf8"));
    for (const path of [...built, ...rendered]) {
      const { text } = await service.ask(path);
      const files = scriptsOf(text).flatMap(
        ({ attributes }) => /src="\/_next\/([^"?]+)/.exec(attributes)?.[1] ?? [],
      );
      const added = files.filter((file) => ![...rootMainFiles, ...polyfillFiles].includes(file));
      const bytes = added.map((file) => gzipSync(readFileSync(join(".next", file))).length);
      expect(
        bytes.reduce((sum, size) => sum + size, 0),
        `${path}: ${added}`,
      ).toBeLessThanOrEqual(10 * 1024);
    }
  });

  it("is not kept by a proxy past an upgrade", async () => {
    for (const path of built) {
      expect((await service.ask(path)).headers["cache-control"]).toBe("public, no-cache");
    }
  });

  it.each([
    ["/favicon.ico", "image/x-icon"],
    ["/favicon.svg", "image/svg+xml"],
    ["/apple-touch-icon.png", "image/png"],
    ["/social-card.png", "image/png"],
  ])("has %s", async (path, type) => {
    const { status, headers } = await service.ask(path);
    expect([status, headers["content-type"]]).toEqual([200, type]);
  });
});

describe("the front page", () => {
  it("shows the social card under our own address", async () => {
    const service = await Service.start({ APP_URL: "https://office.example.org" });
    const { text } = await service.ask("/");
    expect(text).toContain('property="og:image" content="https://office.example.org/social-card.png"');
    await service.stop();
  });
});
