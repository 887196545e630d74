import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";

describe("the look of the pages", async () => {
  const { service } = await borrowService();

  it("is the system's until the owner chooses another, which every page has at once, without a script", async () => {
    const browser = await Browser.admit(service, "looks@example.com");
    const lookOf = async (path: string) =>
      /<html lang="en"(?: data-look="(\w+)")?>/.exec((await browser.open(path)).text)?.[1];
    expect(await lookOf("/home/account")).toBeUndefined();
    const { headers } = await browser.pressAtHome("/home/appearance", { look: "dark" });
    expect(headers.location).toBe("/home/account#appearance");
    for (const path of ["/home", "/home/account", "/", "/docs", "/status", "/no/such/page", "/unsubscribe"])
      expect(await lookOf(path), path).toBe("dark");
    const { text, headers: sent } = await browser.open("/docs");
    expect(text).toContain('<meta name="theme-color" content="#131512"/>');
    expect(sent).toMatchObject({
      "cache-control": "private, no-cache, no-transform",
      vary: expect.stringContaining("Cookie"),
    });
    expect((await service.ask("/docs")).text, "another reader's").not.toContain("data-look");
    await browser.pressAtHome("/home/appearance", { look: "system" });
    expect(browser.valueOf("office-look")).toBe("");
    expect(await lookOf("/docs")).toBeUndefined();
  });

  it("is no other than the three, whatever is sent", async () => {
    const browser = await Browser.admit(service, "sends@example.com");
    await browser.pressAtHome("/home/appearance", { look: '"><script>' });
    browser.cookies.set("office-look", "<script>");
    expect((await browser.open("/home/account")).text).not.toContain('data-look="<');
    expect((await browser.open("/docs")).text).toContain('<html lang="en">');
  });

  it("is chosen where all mails are listed too, those that can be stopped with how", async () => {
    const browser = await Browser.admit(service, "mails@example.com");
    const { text } = await browser.open("/home/account");
    for (const words of [
      "Sign-in, security, payments",
      "Apps about to be disconnected",
      "Low credits",
      "Introduction",
    ])
      expect(text).toContain(words);
    await browser.pressAtHome("/home/introduction/stop");
    expect((await browser.open("/home/account")).text).toContain("none will come any more.");
    expect((await service.audit("mails@example.com"))[0]).toMatchObject({ who: "owner", what: "mails stop" });
  });
});
