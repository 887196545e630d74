import pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { type RateLimit, rateLimits } from "@/lib/config/limits";
import { forms } from "@/lib/http/register/forms";
import type { Route } from "@/lib/http/route";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

/* What one client can send, and what no field may contain. */

describe.each(engines)("forms, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let owner: Browser;
  let account: string;
  beforeAll(async () => {
    owner = await Browser.admit(service, "ceo@example.com", "--plan", "licensed");
    account = String((await stage.query("SELECT id FROM accounts"))[0]?.id);
  });

  const ownForms = Object.values<Route>(forms).filter(({ origin }) => origin === "own");

  it.each(ownForms.filter(({ takes, needsBilling }) => takes === "form" && !needsBilling))(
    "with a NUL, which PostgreSQL cannot store, are refused with 400 at $path",
    async ({ path, needsCookies }) => {
      const names = ["email", "token", "code", "user_code", "answer", "session", "passkey", "name", "mails"];
      const nul = Object.fromEntries(
        [...names, "request", "licence"].map((name) => [name, "a\0b@example.com"]),
      );
      const browser = new Browser(service);
      for (const [name, value] of owner.cookies) browser.cookies.set(name, value);
      const { status } = await browser.submit(path, { ...nul, account });
      expect(status, needsCookies ? "with its cookie" : "").toBe(400);
    },
  );

  let networks = 0;
  it.each(ownForms)("are limited at $path, whatever they do", async ({ path, limit }) => {
    const { perClient = 0 }: RateLimit = rateLimits[limit as keyof typeof rateLimits];
    expect(perClient, path).toBeGreaterThan(0);
    if (limit === "renewals") return; // 3,000 of them are not worth the time
    // A network of its own: all forms together would reach the limit of one.
    const browser = new Browser(service, `127.9.${++networks}.1`);
    for (let sent = 0; sent < perClient; sent++) expect((await browser.submit(path)).status).not.toBe(429);
    const { status, headers } = await browser.submit(path);
    const isRefused = status === 429 || /problem=(?:too-many|sign-out|export)/.test(headers.location ?? "");
    expect(isRefused, `${status} ${headers.location}`).toBe(true);
  });

  it.each([
    ["client", "Too many attempts from your browser or address. Wait 1 second, then try again."],
    ["network", "Too many attempts from your network or account. Wait 1 second, then try again."],
    ["all", "Too many attempts from all networks together. Wait 1 second, then try again."],
  ])("that are refused say whose share is used up: %s", async (of, words) => {
    for (const path of ["/waitlist", "/sign-in"])
      expect((await service.ask(`${path}?problem=too-many&of=${of}&wait=1`)).text).toContain(words);
  });

  if (engine.name === "PostgreSQL")
    it("of many strangers leave owners a connection of the store", async () => {
      const { DATABASE_URL } = stage.environment;
      const headers = { authorization: `Bearer ${await service.token("ceo@example.com")}` };
      const lock = new pg.Client(DATABASE_URL);
      await lock.connect();
      await lock.query("BEGIN; LOCK TABLE sign_in_emails");
      const sent = Array.from({ length: 60 }, () =>
        new Browser(service).submit("/sign-in/send", { email: "abc@example.com" }),
      );
      try {
        await eventually(async () => {
          const { rows } = await lock.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
          expect(rows.length).toBeGreaterThan(0);
        });
        const owners = await Promise.all(
          Array.from({ length: 20 }, () => service.ask("/api/entitlement", { headers })),
        );
        expect(owners.map(({ status }) => status)).toEqual(Array(20).fill(200));
      } finally {
        await lock.end();
      }
      for (const { status } of await Promise.all(sent)) expect(status).toBe(303);
    });

  it("cost an owner 30 tokens in ten minutes, also from several addresses", async () => {
    const mint = (from: string) =>
      service.submit("/home/token", { account }, { from, headers: { cookie: owner.cookie } });
    const minted = [];
    for (let n = 0; n < 35; n++) minted.push((await mint(`127.49.0.${n + 1}`)).status);
    expect(minted.filter((status) => status === 200).length).toBeLessThanOrEqual(30);
    expect(minted.at(-1)).toBe(429);
  });
});
