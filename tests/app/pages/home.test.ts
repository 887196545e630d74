import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { mcpClients } from "@/lib/docs/mcp-clients";
import { operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

// The texts do not depend on the engine.
describe.each(engines.slice(0, 1))("/home and GET /api/entitlement", async (engine) => {
  const { stage, service } = await borrowService(engine);

  /** The API's hint to an app, and the page of the same session. */
  async function both(of: Service, headers: Record<string, string> = {}) {
    const { text } = await of.ask(operations.entitlement.path, { headers });
    const page = await of.ask("/home", { headers });
    return { hint: JSON.parse(text).error.hint as string, page: page.text };
  }

  const expectTheSame = ({ hint, page }: { hint: string; page: string }, says: string) => {
    expect(hint).toContain(says);
    expect(page).toContain(hint);
  };

  it("give the same advice when a trial has ended", async () => {
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const Cookie = `__session=${await service.token("ended@example.com")}`;
    expectTheSame(await both(service, { Cookie }), "For a plan, write to help@example.com");
  });

  it("give the same advice when the account cannot be read", async () => {
    await service.adminJson("account", "add", "odd@example.com");
    const Cookie = `__session=${await service.token("odd@example.com")}`;
    await stage.query("UPDATE accounts SET plan = 'platinum' WHERE email = 'odd@example.com'");
    const said = await both(service, { Cookie });
    expectTheSame(said, "write to help@example.com about your account");
    expect(said.page).toContain("<h1>We cannot read your account</h1>");
    expect(said.page).not.toContain("Copy a token");
    expect(said.page, "not as signed out").toContain("Sign out");
    expect(said.page).toMatch(/href="mailto:[^"]+\?subject=[^"&]+">Email support/);
  });

  it("give the same advice when sign-in is not configured", async () => {
    expectTheSame(await both(await unconfigured()), "trying again does not help");
  });

  const admit = (email: string, ...terms: string[]) => Browser.admit(service, email, ...terms);
  const shown = async (browser: Browser, path = "/home") => (await browser.open(path)).text;

  it("show a licensed company's owner that it may run, its assistants and its credits", async () => {
    const owner = await admit("licensed@example.com", "--plan", "licensed", "--assistant-limit", "30");
    const home = await shown(owner);
    expect(home).toContain("</svg><h1>Your plan is active</h1></div>");
    expect(home).toContain('<h2 id="credits">Credits: 0</h2>');
    expect(home).toContain("Without any, only jobs that cost credits are refused.");
    expect(home).toContain("licensed@example.com");
    expect(home, "for a home screen").toContain('<link rel="manifest" href="/site.webmanifest?v=');
    const billing = await shown(owner, "/home/billing");
    expect(billing).toContain("</svg>Up to 30 assistants</li>");
  });

  it.each([
    ["days", 4.5 * dayMs, "5 days left", 5, "good"],
    ["the last hour", dayMs / 24, "1 hour left", 1, "soon"],
  ])("show what is left of a trial, in words and as a bar: %s", async (name, ms, left, days, colour) => {
    const endsAt = new Date(Date.now() + ms).toISOString();
    const home = await shown(await admit(`trial-${colour}@example.com`, "--trial-ends", endsAt));
    expect(home, name).toContain(`<strong>${left}</strong>, until <time dateTime="${endsAt}"`);
    const filled = [...home.matchAll(/width="([\d.]+)" height="1" data-is-left/g)].map(([, part]) =>
      Number(part),
    );
    expect(filled, "a part for each day").toHaveLength(days);
    expect(filled.reduce((sum, part) => sum + part, 0)).toBeCloseTo(ms / dayMs, 1);
    expect(home).toContain(`<section class="card verdict" data-colour="${colour}"`);
    expect(home).toMatch(/Up to date at <time [^>]+>\d\d:\d\d UTC</);
  });

  it("show what a hobby plan is, which lists no step about the end of a trial", async () => {
    const home = await shown(await admit("hobby@example.com", "--plan", "hobby"));
    expect(home).toContain("your plan is free");
    expect(home).toContain("<dt>You pay</dt><dd>Nothing");
    expect(home).toContain("1 of 3 done");
    expect(home).not.toContain("trial");
  });

  it("show a stopped company's owner one button, which emails support", async () => {
    const home = await shown(await admit("stopped@example.com", "--trial-ends", "2026-01-01"));
    const [verdict = ""] =
      /<section class="card verdict" data-colour="stopped".*?<\/section>/.exec(home) ?? [];
    expect(verdict.match(/<a /g)).toHaveLength(1);
    expect(verdict).toContain(
      'href="mailto:help@example.com?subject=Corner%20Office%3A%20Your%20trial%20ended%20on%201%20January%202026&amp;body=My%20account%20is%20stopped%40example.com.%0A%0A"',
    );
  });

  it("tick the first steps by what is known", async () => {
    const email = "first-days@example.com";
    const owner = await admit(email, "--trial-days", "14");
    const done = async () =>
      [...(await shown(owner)).matchAll(/<strong>([^<]+)<\/strong><span class="unseen">: done\./g)].map(
        ([, step]) => step,
      );
    expect(await done()).toEqual(["Sign in"]);
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, last_seen_at_ms, expires_at_ms)
       SELECT 'sess_first', id, 'app', 'Desk', 1, 1, ${Date.now() + dayMs} FROM accounts WHERE email = '${email}'`,
    );
    expect(await done(), "an agent that was not asked yet").toEqual(["Sign in", "Connect an app"]);
    await stage.query("UPDATE local_sessions SET checked_at_ms = 1, told = 'trial' WHERE id = 'sess_first'");
    expect(await done()).toEqual(["Sign in", "Connect an app", "Your app starts working"]);
    await service.adminJson("account", "set", email, "--plan", "licensed");
    expect(await shown(owner)).not.toContain("First steps");
  });

  it("name what each agent needs to connect, and what we tried", async () => {
    const owner = await admit("connecting@example.com", "--plan", "licensed");
    const tiles = await shown(owner, "/home/access");
    const asked = [...tiles.matchAll(/href="(\/home\/access\/connect\?app=[a-z-]+)"/g)].map(
      ([, to]) => to ?? "",
    );
    expect(asked).toHaveLength(7);
    const page = (await Promise.all(asked.map((to) => shown(owner, to)))).join();
    expect(tiles).toContain('href="/connect?user_code"');
    const { address, accountAddress, claudeCode, codex, cursor, vsCode } = mcpClients(service.url);
    const lines = [...page.matchAll(/<code>([^<]+)<\/code><button[^>]* data-copies/g)].map(
      ([, line]) => line,
    );
    expect(lines).toEqual([accountAddress, accountAddress, claudeCode.join("; "), codex, address]);
    for (const { installLink } of [cursor, vsCode]) {
      expect(page).toContain(`href="${installLink.replaceAll("&", "&amp;")}"`);
      const link = decodeURIComponent(installLink).replace(/config=(.*)$/, (_, config) => atob(config));
      expect(link).toContain(`"url":"${accountAddress}"`);
    }
    const words = page.replaceAll("<!-- -->", "").replace(/<[^>]+>/g, " ");
    expect(words).toMatch(/ Claude Code .{0,300} Tried on \d+ \w+ \d{4}, in version \d/);
    expect(words).toMatch(
      / ChatGPT .{0,400} with our own program, which connects as its documents say, not in the app itself\./,
    );
  });

  it("show credits by day, and every entry with its reason, by links to older ones", async () => {
    const email = "ledger@example.com";
    const owner = await admit(email, "--plan", "licensed", "--credits", "100");
    for (const amount of ["-12.5", "20", "-6"])
      await service.adminJson("credits", "add", email, amount, "--reason", `worth ${amount}`);
    const entriesIn = (text: string) => [...text.matchAll(/<li><span>([^<]+)</g)].map(([, reason]) => reason);
    const first = await shown(owner, "/home/billing");
    expect(first).toContain('<p class="total">101.5</p>');
    expect(first).toContain("<strong>18.5 used in the last 30 days</strong>");
    expect(first, "for who sees no bars").toMatch(
      /<th scope="row">\d+ \w+<\/th><td>18\.5<\/td><td>120<\/td>/,
    );
    expect(first, "a limit that is not set").not.toMatch(/limit|hire/i);
    expect(first).toMatch(/worth 20<.*?<b>\+20\.0</);

    const day = (nth: number) =>
      `('day-${nth}', (SELECT id FROM accounts WHERE email = '${email}'), 0, 'day ${nth}', ${Date.now() - nth * dayMs})`;
    await stage.query(
      `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
       VALUES ${Array.from({ length: 57 }, (_, n) => day(n + 1)).join()}`,
    );
    const linkIn = (text: string, words: string) =>
      new RegExp(`href="([^"#]+)[^"]*">${words}<`).exec(text)?.[1] ?? "";
    const newest = await shown(owner, "/home/billing");
    const second = await shown(owner, linkIn(newest, "Older entries"));
    const last = await shown(owner, linkIn(second, "Older entries"));
    expect(linkIn(last, "Older entries")).toBe("");
    expect(linkIn(last, "Latest entries")).toBe("/home/billing");
    expect(newest.match(/<rect /g), "a bar for each day of use").toHaveLength(1);
    const days = Array.from({ length: 57 }, (_, n) => `day ${n + 1}`);
    const all = [newest, second, last].map(entriesIn);
    expect(all.map(({ length }) => length)).toEqual([10, 40, 11]);
    expect(all.flat().slice(0, 3)).toEqual(["worth -6", "worth 20", "worth -12.5"]);
    expect(all.flat().slice(-57)).toEqual(days);
  });

  it("show entries of a day that are alike as one, with each of them, and say of how many the chart is", async () => {
    const email = "busy@example.com";
    const owner = await admit(email, "--plan", "licensed");
    const account = `(SELECT id FROM accounts WHERE email = '${email}')`;
    const noonMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2;
    const entry = (n: number) => `('busy-${n}', ${account}, -1500, 'Inbox', ${noonMs - n * 1000})`;
    const insert = (from: number, count: number) =>
      stage.query(
        `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
         VALUES ${Array.from({ length: count }, (_, n) => entry(from + n)).join()}`,
      );
    await insert(0, 1999);
    const all = await shown(owner, "/home/billing");
    const alike =
      /<summary><span>Inbox<\/span><b>−15\.0<\/b><small>10 times<\/small><\/summary><ol>(.*?)<\/ol>/;
    expect(alike.exec(all)?.[1]?.match(/<b>−1\.5<\/b>/g)).toHaveLength(10);
    expect(all).toContain("<strong>2,998.5 used in the last 30 days</strong>");
    expect(all).not.toContain("Of the latest");
    await insert(1999, 2);
    const cut = await shown(owner, "/home/billing");
    expect(cut).toContain("<strong>At least 3,000 used in the last 30 days</strong>");
    expect(cut).toContain("Of the latest 2,000 entries.");
  });

  it("say when a trial ended, and that the hobby plan has no end", async () => {
    const ended = await admit("trial-ended@example.com", "--trial-ends", "2026-01-01T12:00:00Z");
    const home = await shown(ended);
    expect(home).toContain("Your trial ended on 1 January 2026</h1>");
    expect(home, "a trial is not a plan that was bought").not.toContain("Last plan");
    expect(home.match(/<dd>Nothing/g), "said once of now and next").toHaveLength(1);
    expect(home).not.toContain("keeps running");
    const hobby = await shown(await admit("hobby-alone@example.com", "--plan", "hobby"));
    expect(hobby).toContain("<small>your plan is free</small>");
    expect(hobby).toContain("Connect your first app: your assistants work there.");
  });

  it("send a browser without cookies to sign-in, without a redirect loop", async () => {
    expect((await service.ask("/home")).headers.location).toBe("/sign-in");
    expect((await service.ask("/sign-in")).status).toBe(200);
  });
});
