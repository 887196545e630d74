import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { files } from "@/lib/http/register/files";
import { type Page, pages, type Script } from "@/lib/http/register/pages";
import { startService } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { unconfigured } from "@/tests/support/unconfigured";

/** The register's names of our scripts, by their addresses. */
const scripts: Record<string, Script> = {
  [files.documentsScript.path]: "documents",
  [files.script.path]: "pages",
  [files.homeScript.path]: "home",
};

/** Those that need no session. */
const open = Object.values<Page>(pages).filter(
  ({ path, access }) => access !== "session" && path !== "/sign-in/code",
);

describe.each([
  ["`npm start`", ["dist/server/main.js"]],
  ["plain `next start`", ["node_modules/next/dist/bin/next", "start"]],
])("a page behind %s", async (_, program) => {
  const settings = { SIGN_IN: "local", APP_URL: "https://office.example.org" };
  const service = await startService(settings, { program });
  await eventually(async () => expect((await service.ask("/")).status).toBe(200));

  const policyOf = (headers: IncomingHttpHeaders) => {
    const policy = String(headers["content-security-policy"]);
    const directives = policy.split("; ").map((directive) => directive.split(/ (.*)/, 2));
    return Object.fromEntries(directives) as Record<string, string>;
  };

  it.each(open)(
    "$path is as its entry says: its scripts, its headers, and whether it is found",
    async (page) => {
      const { path, loads, isCrawled } = page;
      const { headers, text } = await service.ask(path);
      expect(text.includes('<meta name="robots" content="noindex"/>')).toBe(!isCrawled);
      expect(text.includes('<meta property="og:title"')).toBe(isCrawled);
      expect(text).not.toContain("site.webmanifest");
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": path === "/unsubscribe" ? "no-referrer" : "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": expect.stringContaining("camera=(), "),
        "strict-transport-security": expect.stringContaining("max-age=31536000"),
      });
      const isApps = ["/sign-in", "/sign-in/code", "/connect"].includes(path);
      expect(headers["cross-origin-opener-policy"]).toBe(isApps ? undefined : "same-origin");
      const { "script-src": allowed = "", ...others } = policyOf(headers);
      expect(others).toMatchObject({
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
      expect(text).toMatch(/href="\/(pages|home|documents)\.css\?v=/);
      expect(text).not.toMatch(/ style="| on[a-z]+="/);
      expect(allowed).toBe(loads.some((script) => script !== "clerk") ? "'self'" : "'none'");
      expect(others).toMatchObject({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" });
      for (const [, src = ""] of text.matchAll(/<script(?:[^>]*src="([^"?]*))?/g))
        expect(loads, `a script ${src}`).toContain(scripts[src]);
    },
  );

  it("sends X-Request-Id on every response except those that shared caches store", async () => {
    const sent = { headers: { "X-Request-Id": "somebody-elses" } };
    for (const path of [pages.front.path, pages.errors.path, files.icon.path, "/openapi.json", "/docs.md"]) {
      const { headers } = await service.ask(path, sent);
      expect(headers["cache-control"]).toMatch(/^public/);
      expect(headers, path).not.toHaveProperty("x-request-id");
    }
    for (const path of [pages.waitlist.path, pages.signIn.path, "/nothing", "/docs/search.json?q=x"]) {
      expect((await service.ask(path, sent)).headers["x-request-id"], path).toBe("somebody-elses");
    }
  });

  it("is not cached past an upgrade: documents are revalidated, and files have versioned names", async () => {
    for (const { path } of open.filter(({ isShared, path }) => isShared && path !== "/nothing-here")) {
      // DollhouseMCP/mcp-server#2780, TechForPalestine/website#436
      expect((await service.ask(path)).headers["cache-control"]).toBe("public, no-cache, no-transform");
    }
    const { text } = await service.ask(pages.quickStart.path);
    const addresses = [...text.matchAll(/"(\/(?:pages|documents)\.(?:css|js)\?v=[\w-]{12})"/g)];
    expect(addresses).toHaveLength(2);
    for (const [, address = ""] of addresses) {
      const { status, headers } = await service.ask(address);
      expect([status, headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
      const other = await service.ask(address.replace(/v=.*/, "v=another"));
      expect(other.headers["cache-control"]).not.toContain("immutable");
    }
  });

  it.each([
    ["/favicon.ico", "image/x-icon"],
    ["/favicon.svg", "image/svg+xml"],
    ["/site.webmanifest", "application/manifest+json"],
    ["/apple-touch-icon.png", "image/png"],
    ["/social-card.png", "image/png"],
    ["/social-card-documents.png", "image/png"],
    ["/social-card-news.png", "image/png"],
    ["/picture-front.jpg", "image/jpeg"],
    ["/newsreader-2.woff2", "font/woff2"],
    ["/newsreader-licence.txt", "text/plain; charset=UTF-8"],
    ["/instrument-sans-2.woff2", "font/woff2"],
    ["/instrument-sans-latin-2.woff2", "font/woff2"],
    ["/instrument-sans-licence.txt", "text/plain; charset=UTF-8"],
    ["/licence.txt", "text/plain; charset=UTF-8"],
  ])("has %s", async (path, type) => {
    const { status, headers } = await service.ask(path);
    expect([status, headers["content-type"]]).toEqual([200, type]);
  });

  it("preloads its two fonts, each in the first 14,600 bytes of its connection (RFC 6928), and keeps them", async () => {
    const page = (await service.ask("/waitlist")).text;
    expect([...page.matchAll(/rel="preload" href="([^"]*)"/g)].map(([, path]) => path)).toEqual([
      files.serif.path,
      files.sans.path,
    ]);
    for (const { path } of [files.serif, files.sans]) {
      const { headers } = await service.ask(path);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(Number(headers["content-length"])).toBeLessThan(14_200);
    }
  });

  it("loads the other letters of western Europe where a page has one", async () => {
    const { headers } = await service.ask(files.sansLatin.path);
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(Number(headers["content-length"])).toBeLessThan(14_200);
    expect((await service.ask(files.style.path)).text).toContain(files.sansLatin.path);
  });

  it("shows the social card and samples with our own address", async () => {
    expect((await service.ask("/")).text).toContain(
      'property="og:image" content="https://office.example.org/social-card.png"',
    );
    const { text } = await service.ask(pages.quickStart.path);
    expect(text).toContain('content="https://office.example.org/social-card-documents.png"');
    expect(text).toContain(" CORNER_OFFICE_URL=https://office.example.org\n");
    expect(text).not.toContain("office.example.com");
  });
});

const sessionLinkOf = (html: string) =>
  /<a class="button plain small" href="([^"]*)">([^<]*)</.exec(html)?.slice(1);

describe("with sign-in", async () => {
  const clock = makeClock();
  const settings = { SIGN_IN: "local", SUPPORT_EMAIL: "help@example.com" };
  const service = await startService({ ...settings, ...clock.environment });

  it("links to home with a session cookie, and to sign-in without one", async () => {
    const signIn = "/sign-in?problem=expired";
    for (const path of ["/", "/docs", "/waitlist", "/unsubscribe?token=x", signIn]) {
      const { text } = await service.ask(path);
      expect(sessionLinkOf(text), path).toEqual(path === signIn ? undefined : ["/sign-in", "Sign in"]);
      expect(text).toContain('href="mailto:help@example.com"');
      const known = await service.ask(path, { headers: { cookie: "office-client=x" } });
      expect(sessionLinkOf(known.text), path).toEqual(["/home", "Home"]);
    }
  });

  describe.each(["promo", "warning"])("a %s", (kind) => {
    const isShown = async (path: string, cookie = "") =>
      (await service.ask(path, { headers: { cookie } })).text.includes('aria-label="Notice"');

    async function show(message: string): Promise<void> {
      await service.adminJson("banner", "set", kind, message);
      clock.pass(15_000); // the lifetime of the service's cached banner
      const shown = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      // Pages never wait for the banner: a response that finds it expired refreshes it for the next one.
      await eventually(async () => expect((await service.ask("/docs")).text).toContain(`<p>${shown}</p>`));
    }

    it("is shown on the pages of its kind, in the HTML itself, as text", async () => {
      await show("Closed on <Friday> & $& after");
      const notice = `<aside class="banner" data-kind="${kind}" aria-label="Notice"><p>Closed on &lt;Friday&gt; &amp; $&amp; after</p>`;
      for (const { path } of open) {
        const { text } = await service.ask(path === "/nothing-here" ? "/no/such/page" : path);
        const isShownHere = kind === "warning" || path !== "/unsubscribe";
        expect(text.split(notice), path).toHaveLength(isShownHere ? 2 : 1);
      }
      await service.admin("account", "add", "ceo@example.com");
      const cookie = `__session=${await service.token("ceo@example.com")}`;
      expect(await isShown("/home", cookie)).toBe(kind === "warning");
    });

    it("can be dismissed for its message, and another message is shown again", async () => {
      await show("The first");
      const headers = { origin: service.url, referer: `${service.url}/docs/search?q=x` };
      const { status, headers: answered } = await service.ask("/notice/dismiss", { method: "POST", headers });
      expect([status, answered.location]).toEqual([303, `${headers.referer}#main`]);
      const cookie = answered["set-cookie"]?.[0]?.split(";")[0] ?? "";
      for (const path of ["/docs", "/", "/waitlist", "/sign-in", "/no/such/page"]) {
        expect(await isShown(path, cookie), path).toBe(false);
      }
      expect(await isShown("/docs"), "others go on reading it").toBe(true);
      const answer = await service.ask("/docs", { headers: { cookie } });
      expect(answer.headers).toMatchObject({
        "cache-control": "private, no-cache, no-transform",
        vary: expect.stringMatching(/\bCookie\b/),
      });
      await show("The second");
      await eventually(async () => expect(await isShown("/waitlist", cookie)).toBe(true));
    });

    it("is shown again when it is announced again in the same words, also to who dismissed it", async () => {
      const cookieOf = (html: string) => /name="notice" value="([^"]+)"/.exec(html)?.[1] ?? "";
      await show("The mail is late");
      const before = (await service.ask("/docs")).text;
      const dismiss = async (notice: string) =>
        (await service.submit("/notice/dismiss", { notice })).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
      const cookie = await dismiss(cookieOf(before));
      for (const path of ["/docs", "/waitlist", "/connect"])
        expect(await isShown(path, cookie), path).toBe(false);
      await show("Another");
      await show("The mail is late");
      await eventually(async () => expect(await isShown("/docs", cookie)).toBe(true));
      for (const path of ["/", "/waitlist", "/connect"]) expect(await isShown(path, cookie), path).toBe(true);
      // A page that was open before cannot dismiss what it did not show.
      expect(await dismiss(cookieOf(before))).toBe("");
      expect(await isShown("/docs", await dismiss(cookieOf((await service.ask("/docs")).text)))).toBe(false);
    });

    it("is shown again when its time comes again", async () => {
      const at = (hours: number) => new Date(clock.now() + hours * 60 * 60_000).toISOString();
      const plan = (starts: string, ends: string) =>
        service.adminJson(
          "banner",
          "set",
          kind,
          "We are down for repairs",
          "--starts",
          starts,
          "--ends",
          ends,
        );
      await plan(at(-1), at(1));
      clock.pass(15_000);
      await eventually(async () => expect(await isShown("/docs")).toBe(true));
      const { headers } = await service.submit("/notice/dismiss", {});
      const cookie = headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
      expect(await isShown("/docs", cookie)).toBe(false);
      await plan(at(24), at(26));
      clock.pass(15_000);
      await eventually(async () => expect(await isShown("/docs")).toBe(false));
      clock.pass(24 * 60 * 60_000);
      await eventually(async () => expect(await isShown("/docs", cookie)).toBe(true));
    });

    it("is no promo on the page of an app's request to someone who is signed in", async () => {
      await show("Half price");
      expect(await isShown("/connect")).toBe(true);
      for (const cookie of ["office-client=x", `__session=${await service.token("ceo@example.com")}`]) {
        expect(await isShown("/connect", cookie)).toBe(kind === "warning");
        expect(await isShown("/docs", cookie), "a public page").toBe(true);
      }
    });

    it("can only be dismissed from our own pages, and never redirects to another site", async () => {
      await show("The only");
      const dismiss = (headers: Record<string, string>) =>
        service.ask("/notice/dismiss", { method: "POST", headers });
      expect((await dismiss({ origin: "https://elsewhere.example" })).status).toBe(403);
      for (const [referer, to] of [
        ["https://elsewhere.example/x", "/#main"],
        [`${service.url}.elsewhere.example/x`, "/#main"],
        // The path comes from a link, and "//elsewhere.example" alone would name another site.
        [`${service.url}//elsewhere.example/x`, `${service.url}//elsewhere.example/x#main`],
      ] as const) {
        const led = await dismiss({ origin: service.url, referer });
        expect(led.headers.location, referer).toBe(to);
      }
      expect((await service.ask("/unsubscribe?token=x")).text).not.toContain("/notice/dismiss");
    });
  });
});

it("without sign-in shows no sign-in link", async () => {
  const service = await unconfigured();
  expect(sessionLinkOf((await service.ask("/docs")).text)).toBeUndefined();
  for (const path of ["/", "/no/such/page"]) {
    const { text } = await service.ask(path);
    expect(text, path).not.toMatch(/href="\/(sign-in|waitlist|home)"|action="\/waitlist/);
    expect(text).not.toContain("mailto:");
  }
});
