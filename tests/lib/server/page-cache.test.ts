import { createServer } from "node:http";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { store } from "@/lib/db/store";
import { Call, sourceOf } from "@/lib/http/call";
import { allRoutes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import { documentPages, pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { publicSite } from "@/lib/http/router";
import { CachedResponse } from "@/lib/server/cached-response";
import { encode } from "@/lib/server/compression";
import { PageCache } from "@/lib/server/page-cache";
import { readAnnouncement, setBanner } from "@/lib/site-banner";
import { startService } from "@/tests/support/block";
import { createFolder } from "@/tests/support/leash";
import { listen } from "@/tests/support/port";

describe("a cached response", async () => {
  const text = "All that is said, and said again. ".repeat(100);
  const fields = ["content-type", "text/plain", "x-own", "1"];
  const kept = new CachedResponse({ status: 200, fields, content: text });
  const port = await listen(createServer((incoming, outgoing) => kept.send(incoming, outgoing)));
  const url = `http://127.0.0.1:${port}/`;
  const get = (headers: Record<string, string>, method = "GET") => fetch(url, { method, headers });

  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.5, gzip", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["br;q=0, gzip;q=0", null],
    [",;q=x", null],
  ])("comes to who accepts %j as %s (RFC 9110 §12.5.3)", async (accepted, encoding) => {
    const answer = await get({ "Accept-Encoding": accepted });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    expect(answer.headers.get("x-own")).toBe("1");
    expect(await answer.text()).toBe(text);
  });

  it.each(["short", "long"])(
    "of %s content has every byte of it, and is sent at once after the first time",
    async (size) => {
      const said = "“naïve” – 名前 \u{1f600}\n".repeat(size === "long" ? 1000 : 1);
      const spoken = new CachedResponse({ status: 200, fields, content: said });
      const sent: unknown[] = [];
      const port = await listen(
        createServer((incoming, outgoing) => void sent.push(spoken.send(incoming, outgoing))),
      );
      for (const accepted of ["identity", "identity", "br", "br"]) {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { "Accept-Encoding": accepted } });
        expect(Number(answer.headers.get("content-length"))).toBeGreaterThan(0);
        expect(await answer.text()).toBe(said);
      }
      expect(sent.filter((one) => one === 200).length).toBe(size === "long" ? 2 : 3);
    },
  );

  it("is no 304 unless its status is 200 (RFC 9110 §13.2.1)", async () => {
    const notFound = new CachedResponse({ status: 404, fields, content: "Nothing." });
    const port = await listen(createServer((incoming, outgoing) => notFound.send(incoming, outgoing)));
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { "If-None-Match": "*" } });
    expect([answer.status, await answer.text()]).toEqual([404, "Nothing."]);
  });

  it("has a strong ETag per encoding, and is a 304 without a body for a current copy", async () => {
    const tags = new Set<string>();
    for (const accepted of ["br", "gzip", "identity"]) {
      const headers = { "Accept-Encoding": accepted };
      const tag = String((await get(headers)).headers.get("etag"));
      tags.add(tag);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const answer = await get({ ...headers, "If-None-Match": known });
        expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", tag]);
        expect(answer.headers.get("vary")).toBe("Accept-Encoding");
      }
      expect((await get({ ...headers, "If-None-Match": '"other"' })).status).toBe(200);
    }
    expect(tags.size).toBe(3);
  });

  it("is compressed anew by the next request when it could not be once", async () => {
    const compress = vi.fn(encode).mockRejectedValueOnce(new Error("no memory"));
    const failing = new CachedResponse({ status: 200, fields, content: text }, compress);
    const port = await listen(
      createServer(async (incoming, outgoing) => {
        await Promise.resolve(failing.send(incoming, outgoing)).catch(() => outgoing.destroy());
      }),
    );
    const ask = () => fetch(`http://127.0.0.1:${port}/`, { headers: { "Accept-Encoding": "br" } });
    await expect(ask()).rejects.toThrow("fetch failed");
    for (let n = 0; n < 2; n++) expect(await (await ask()).text()).toBe(text);
    expect(compress).toHaveBeenCalledTimes(2);
  });

  it("answers HEAD with the headers of GET and no body", async () => {
    const headers = { "Accept-Encoding": "identity" };
    const head = await get(headers, "HEAD");
    expect(head.headers.get("content-length")).toBe(String(text.length));
    expect(await head.text()).toBe("");
  });
});

describe("cached pages", () => {
  beforeAll(() => {
    vi.stubEnv("DATA_DIR", createFolder());
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  const call = (path: string, query = "", headers = {}) =>
    new Call(sourceOf("GET", query ? `${path}?${query}` : path, new Headers(headers)), publicSite);
  const made = (caching?: string, status = 200) => ({
    status,
    fields: caching ? ["cache-control", caching] : [],
    content: "x",
  });

  it("are rendered once for concurrent requests, and once for all unknown addresses", async () => {
    const make = vi.fn(async () => made());
    const kept = new PageCache(make);
    const { path } = publications.openApi;
    await Promise.all([
      kept.find(call(path)),
      kept.find(call(path)),
      kept.find(call("/a")),
      kept.find(call("/b/c")),
    ]);
    const nothingSent = { cookie: "", accept: "" };
    expect(make.mock.calls).toEqual([
      [path, nothingSent],
      [pages.nothingHere.path, nothingSent],
    ]);
    expect(await kept.find(call(pages.home.path)), "a page of one account").toBeUndefined();
  });

  it.each([
    ["joined", {}],
    ["", { cookie: "__session=x" }],
    ["", { cookie: "office-client=x" }],
    ["", { cookie: `office-email=${btoa("ceo@example.com")}` }],
  ])(
    "include /sign-in and /waitlist without a query and our cookies, not with '%s' and %o",
    async (query, sent) => {
      const kept = new PageCache(async () => made("no-store"));
      for (const { path } of [pages.signIn, pages.waitlist]) {
        expect(await kept.find(call(path, query, sent)), path).toBeUndefined();
        expect(await kept.find(call(path, "", { cookie: "theirs=x" })), path).toBeDefined();
      }
    },
  );

  it("are rendered again when max-age has passed; the last copy is served while that fails", async () => {
    const make = vi.fn(async () => made("public, max-age=300"));
    const kept = new PageCache(make);
    const { path } = publications.llms;
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    const first = await kept.find(call(path));
    clock.mockReturnValue(299_999);
    expect(await kept.find(call(path))).toBe(first);
    clock.mockReturnValue(300_000);
    make.mockResolvedValueOnce(made(undefined, 503));
    expect(await kept.find(call(path))).toBe(first);
    expect(await kept.find(call(path))).not.toBe(first);
    expect(make).toHaveBeenCalledTimes(3);
  });

  it("are as many as a page has, whatever cookies and Accept fields are sent", async () => {
    const make = vi.fn(async () => made());
    const kept = new PageCache(make);
    for (let n = 0; n < 20; n++) {
      const cookie = `__session=${n}; office-notice=${n}; office-look=dark; theirs=${n}`;
      await kept.find(call("/docs", "", { cookie: `office-look=${n}` }));
      const accept = `text/markdown, text/x-${n};q=0.1`;
      await kept.find(call("/docs", "", { cookie, accept }));
      await kept.find(call("/docs", "", { cookie }));
    }
    const variants = [
      { cookie: "", accept: "" },
      { cookie: "", accept: "text/markdown" },
      { cookie: "__session=x; office-look=dark", accept: "" },
    ];
    expect(make.mock.calls).toEqual(variants.map((variant) => ["/docs", variant]));
  });

  it("are all kept while a stranger asks for each of them in each form", async () => {
    const banner = { kind: "warning", message: "Hello", starts_at_ms: null, ends_at_ms: null } as const;
    await setBanner(await store(), { banner }, 0);
    vi.spyOn(performance, "now").mockReturnValue(1e9); // the copy of the banner is old
    const notice = (await readAnnouncement())?.id ?? "";
    const make = vi.fn(async () => made("no-store"));
    const kept = new PageCache(make);
    const forms = ["", "; __session=x"]
      .flatMap((one) => ["", "; office-look=dark", "; office-look=light"].map((look) => one + look))
      .flatMap((one) =>
        ["", `; office-notice=${notice}`, "; office-notice=other"].map((hidden) => one + hidden),
      );
    const askForAll = async () => {
      for (const { path } of allRoutes.values())
        for (const cookie of forms)
          for (const accept of ["text/html", "text/markdown"])
            await kept.find(call(path, "", { cookie: `a=b${cookie}`, accept }));
      return make.mock.calls.length;
    };
    const all = await askForAll();
    expect(all).toBeGreaterThan(400);
    expect(await askForAll()).toBe(all);
  });

  it("are none while they cannot be made", async () => {
    const kept = new PageCache(async () => made(undefined, 500));
    expect(await kept.find(call(pages.front.path))).toBeUndefined();
  });
});

describe("the service's cached pages and files", async () => {
  const service = await startService({ SIGN_IN: "local" });

  const shared = [
    ...Object.values(documentPages),
    pages.front,
    publications.openApi,
    publications.llms,
    files.documentsScript,
    files.style,
    { path: "/docs/api.md" },
  ];

  it.each(shared)("$path is compressed, has an ETag, and can be a 304", async ({ path }) => {
    const plain = await service.ask(path, { headers: { "X-Request-Id": "of-who-asked-first" } });
    expect(plain.status).toBe(200);
    for (const encoding of ["br", "gzip"]) {
      const answer = await fetch(service.url + path, { headers: { "Accept-Encoding": encoding } });
      expect(answer.headers.get("content-encoding")).toBe(encoding);
      const isPage = plain.headers["content-type"]?.startsWith("text/html");
      expect(answer.headers.get("vary"), "neither `rsc` nor any name of the framework's").toBe(
        [
          ...(isPage ? ["Cookie"] : []),
          ...(Object.values(documentPages).some((document) => path.startsWith(document.path))
            ? ["Accept"]
            : []),
          "Accept-Encoding",
        ].join(", "),
      );
      expect(await answer.text()).toBe(plain.text);
    }
    const again = await service.ask(path, { headers: { "If-None-Match": String(plain.headers.etag) } });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, "", plain.headers.etag]);
    for (const header of ["x-powered-by", "x-nextjs-cache", "x-request-id"]) {
      expect(plain.headers).not.toHaveProperty(header);
    }
  });

  it("include no image optimizer and nothing of Next's except the files of the build", async () => {
    for (const path of [
      "/_next/image?url=%2Fsocial-card.png&w=640&q=75",
      "/_next/data/x/index.json",
      "/_next/static/../../package.json",
      "/_next/static/%2e%2e/server/app/index.html",
      "/_not-found",
      // Only in development.
      "/previews/emails",
    ]) {
      const answer = await service.ask(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    }
  });
});
