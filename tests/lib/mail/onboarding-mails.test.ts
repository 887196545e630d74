import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { colours } from "@/lib/config/theme";
import { escapeHtml } from "@/lib/http/escape-html";
import { operations } from "@/lib/http/register/operations";
import { onboardingContent, onboardingDays, onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { renderHtml, renderMail, renderText } from "@/lib/mail/mail-content";
import { renderPreviews } from "@/lib/mail/previews";

const base = "https://office.example.com";

beforeAll(() => {
  process.env.APP_URL = base;
  process.env.APP_SECRET = "s".repeat(32);
});

const linkKey = Buffer.alloc(32);
const accountId = `acc_${"x".repeat(22)}`;
const reader = { accountId, linkKey, isConnected: false };
const renderOnboarding = (...about: Parameters<typeof onboardingContent>) =>
  renderMail(onboardingContent(...about));
const token = `v1\\.${accountId}\\.[\\w-]{43}`;

describe("the onboarding series", () => {
  it("states the number of mails and days, and has a different subject for each", () => {
    const mails = onboardingKinds.map((kind) => renderOnboarding(kind, reader));
    expect(new Set(mails.map(({ subject }) => subject)).size).toBe(mails.length);
    const counts = `these ${onboardingKinds.length} emails over your first ${onboardingDays} days`;
    for (const { text } of mails) {
      expect(text).toContain(counts);
      expect(text).toContain("Emails about sign-in, security and the state of your account go on.");
    }
  });

  describe.each(onboardingKinds)("%s", (kind) => {
    const mail = () => renderOnboarding(kind, reader);

    it("has one-click unsubscribe (RFC 8058) and suppresses automatic replies (RFC 3834)", () => {
      expect(mail().headers).toEqual({
        "List-Unsubscribe": expect.stringMatching(
          new RegExp(
            `^<${base}${operations.unsubscribe.path}\\?token=${token}>, <mailto:help@example\\.com\\?subject=[\\w%]+>$`,
          ),
        ),
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "OOF, AutoReply",
      });
    });

    it("has the same words as text and HTML, with the visible link and the support address in both", () => {
      const { text, html } = mail();
      const page = new RegExp(`${base}/unsubscribe\\?token=${token}`);
      expect(text).toMatch(page);
      expect(html.replaceAll("&#38;", "&")).toMatch(page);
      for (const part of [text, html]) expect(part).toContain("help@example.com");
      const words = (part: string) => part.replace(/[^\p{L}]+/gu, " ").trim();
      const plain = html
        .replace(/^[\s\S]*<h1[^>]*>[^<]*<\/h1>/, "")
        .replace(/<[^>]+>/g, " ")
        .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
      const withoutLinks = text.replace(/:\nhttps:\S+/g, "").replace(/^\d\. /gm, "");
      expect(words(plain)).toBe(words(withoutLinks));
    });

    it("loads nothing, and only links to this service", () => {
      const { html } = mail();
      expect(html).not.toMatch(/<img|<script|<link|url\(|@import|src=/i);
      for (const [, url = ""] of html.matchAll(/href="([^"]+)"/g))
        expect(url.startsWith(`${base}/`), url).toBe(true);
      expect(Buffer.byteLength(html), "Gmail clips a mail over 102 KB").toBeLessThan(20_000);
    });

    it("has a short subject, and the same content on every attempt", () => {
      expect(mail().subject.length).toBeLessThanOrEqual(50);
      expect(mail()).toEqual(mail());
    });

    it("knows whether an app is connected, and leads to connecting one alone if none is", () => {
      const { text, html } = renderOnboarding(kind, { ...reader, isConnected: true });
      for (const part of [text, html])
        expect(part).not.toMatch(/connect one app|no app is connected|Connect an app</i);
      expect(mail().text).toMatch(
        /^.*(No app is connected to your account yet|Connect one app, for example)/ms,
      );
    });
  });
});

describe("a mail's content", () => {
  const content = {
    subject: "<b>&",
    preview: '"',
    body: [
      "a < b",
      { facts: { Cost: "nothing & less", Due: undefined, When: "now" } },
      { steps: ["one", "two"] },
      { points: ["p"] },
      { label: "go", url: "https://x.example/?a=1&b=2" },
    ],
    footer: ["end"],
  };

  it("is rendered as text", () => {
    expect(renderText(content)).toBe(
      "a < b\n\nCost: nothing & less\nWhen: now\n\n1. one\n2. two\n\n* p\n\ngo:\nhttps://x.example/?a=1&b=2\n\n-- \nend\n",
    );
  });

  it("is escaped in HTML", () => {
    const html = renderHtml(content);
    expect(html).toContain("<title>&#60;b&#62;&#38;</title>");
    expect(html).toContain("a &#60; b");
    expect(html).toMatch(/<th [^>]*>Cost<\/th><td [^>]*>nothing &#38; less<\/td>/);
    expect(html).not.toContain("Due");
    expect(html).toContain('href="https://x.example/?a=1&#38;b=2"');
    expect(escapeHtml("'")).toBe("&#39;");
  });

  it("takes its colours from the theme", () => {
    expect(readFileSync("lib/mail/mail-content.ts", "utf8")).not.toMatch(/#[0-9a-f]{6}/);
    const html = renderHtml(content);
    for (const [light, dark] of [colours.ink, colours.paper, colours.quiet, colours.accent]) {
      expect(html).toContain(light);
      expect(html).toContain(`${dark} !important`);
    }
  });

  it("stands in a frame, which each way in which a mailbox makes it dark keeps apart from the page", () => {
    const html = renderHtml(content);
    expect(html).toMatch(
      /<td class="frame raised" bgcolor="#ffffff" style="border: 1px solid #e2dfd4;[^"]*">\n<h1/,
    );
    const rule = `{ background: ${colours.raised[1]} !important;`;
    expect(html).toContain(`@media (prefers-color-scheme: dark) {\n.paper`);
    expect(html).toContain(`\n.raised ${rule}`);
    expect(html, "Outlook on the web and on phones").toContain(
      `[data-ogsc] .raised, [data-ogsb] .raised ${rule}`,
    );
    expect(html, "where the button’s colour is taken away").toMatch(/class="act"[^>]*border: 1px solid/);
  });

  it("fills the button of the one thing to do, and outlines one that may be left, in red one for who did not do it", () => {
    const buttonOf = (is?: "optional" | "danger") => {
      const body = [{ label: "go", url: "https://x.example/", ...(is && { is }) }];
      return /<td class="(\w+)" bgcolor="(#\w+)" style="border: 1px solid (#\w+);/.exec(
        renderHtml({ ...content, body }),
      );
    };
    const { accent, raised, edge, stopped } = colours;
    expect(buttonOf()?.slice(1)).toEqual(["act", accent[0], accent[0]]);
    expect(buttonOf("optional")?.slice(1)).toEqual(["optional", raised[0], edge[0]]);
    expect(buttonOf("danger")?.slice(1)).toEqual(["danger", raised[0], stopped[0]]);
  });

  it("has a logo without an image, one button that Outlook draws, and a code once", () => {
    const html = renderHtml({
      ...content,
      body: [...content.body, { label: "more", url: "https://x.example/" }],
    });
    expect(html).toContain(`border-color: ${colours.ink[0]} ${colours.accent[0]};`);
    expect(html.match(/mso-padding-alt/g)).toHaveLength(1);
    expect(html).toMatch(
      /bgcolor="#10694d"[^>]*><a href="https:\/\/x\.example\/\?a=1&#38;b=2"[^>]*>go<\/a><\/td>/,
    );
    expect(html).toContain('<a class="link" href="https://x.example/"');
    const { html: code } = renderPreviews().get("code") ?? expect.fail();
    expect(code.replace(/<title>.*<\/title>/, "").split("123456")).toHaveLength(2);
  });
});
