import { beforeAll, describe, expect, it } from "vitest";
import { onboardingContent, onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { renderMail } from "@/lib/mail/mail-content";
import { renderPreviews } from "@/lib/mail/previews";

const given = {
  APP_URL: "https://office.example.com",
  APP_SECRET: "s".repeat(32),
  OPERATOR_NAME: "Example GmbH",
  OPERATOR_ADDRESS: "1 Example Street, Berlin",
  SUPPORT_EMAIL: "",
};

describe("every mail", () => {
  beforeAll(() => {
    Object.assign(process.env, given);
  });

  const mails = () => [...renderPreviews()];
  const wordsIn = (html: string) =>
    html.replace(/<style>[\s\S]*?<\/style>|<!--[\s\S]*?-->|<[^>]*>/g, " ").replaceAll("&#39;", "'");

  it("has typographic quotes", () => {
    for (const [name, { subject, text, html }] of mails()) {
      expect([name, subject, text].join("\n").match(/.*['"].*/g), name).toBeNull();
      expect(wordsIn(html).match(/.*(?:['"]|&quot;|&#34;).*/g), name).toBeNull();
    }
  });

  it("names who sends it, and the series, which is commercial, their postal address and how to unsubscribe", () => {
    expect(mails().length).toBeGreaterThan(15);
    for (const [name, { text, html, headers }] of mails()) {
      const isOfSeries = onboardingKinds.some((kind) => kind === name);
      expect("List-Unsubscribe" in headers, name).toBe(isOfSeries);
      for (const part of [text, html]) {
        expect(part, name).toContain("Corner Office at office.example.com, run by Example GmbH");
        expect(part.includes("Example GmbH, 1 Example Street, Berlin"), name).toBe(isOfSeries);
        expect(/\bUnsubscribe\b/.test(part), name).toBe(isOfSeries);
      }
    }
  });

  it("says what it costs, unless it is about signing in or an email, and in words that are not a programmer’s", () => {
    const isOfSignIn = /^(?:code|long-code|new-browser|passkey-.*|email-change-.*|.*-in-turn)$/;
    for (const [name, { subject, text }] of mails()) {
      expect(/^Cost: .+[^.]$/m.test(text), name).toBe(!isOfSignIn.test(name));
      const words = [subject, text.replaceAll(/^https:.*/gm, "")].join("\n");
      expect(words, name).not.toMatch(/\b(tokens?|hash|cookies?|sessions?|in turn)\b/i);
    }
  });

  it("has one button at most, whether an app is connected or not, and a link that stops what it asks", () => {
    const connected = onboardingKinds.map((kind) => {
      const reader = { accountId: "acc_preview", linkKey: Buffer.alloc(32), isConnected: true };
      return [kind, renderMail(onboardingContent(kind, reader))] as const;
    });
    for (const [name, { text }] of [...mails(), ...connected]) {
      const [body = ""] = text.split("\n-- \n");
      const links = body.match(/^https:(?!.*&stop$).*/gm) ?? [];
      expect(links.length, name).toBeLessThan(2);
      expect(body, "a button on the page that opens").not.toContain("Manage billing");
    }
  });

  it("names each fact once, in a few words, and what is sold with its price", () => {
    for (const [name, { html, text }] of mails()) {
      for (const [, label = ""] of html.matchAll(/<th [^>]*>([^<]*)<\/th>/g))
        expect(label.length, `${name}: ${label}`).toBeLessThan(17);
      expect(text, name).not.toMatch(/(?:see|shows) (?:the|its) price/i);
    }
    const all = renderPreviews();
    expect(all.get("low-credits")?.text).toContain("\nMore: 500 credits for €10\n");
    expect(all.get("licence-ended")?.text).toContain("\nA plan: Office €49 a month, Team €99 a month\n");
  });

  it("says whom to ask without an address for questions", () => {
    const all = mails().map(([, { text }]) => text);
    for (const text of all) expect(text).not.toMatch(/contact us|write to us|just reply/i);
    expect(all.filter((text) => text.includes("the person who invited you"))).toHaveLength(2);
  });
});
