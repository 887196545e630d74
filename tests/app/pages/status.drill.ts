import { afterAll, describe, expect, it, vi } from "vitest";
import { version } from "@/package.json";
import { startStage } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

vi.setConfig({ testTimeout: 120_000 });

/** Retries until it does not throw: a busy machine is slow. */
const until = (attempt: () => Promise<void>) => vi.waitFor(attempt, { timeout: 50_000, interval: 50 });

const shapes: Record<string, string> = {
  good: '<circle cx="8" cy="8" r="6"',
  soon: "<path",
  stopped: "<rect",
  unknown: '<circle cx="8" cy="8" r="5" fill="none"',
};

/** Reads `/status`: its heading, and each part's colour and text. Checks that the shape fits the colour. */
async function look(service: Service): Promise<{ heading: string; parts: Record<string, string> }> {
  const { status, headers, text } = await service.ask("/status");
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("no-store, no-transform");
  const found = text.matchAll(
    /<strong>([^<]+)<\/strong><p class="light" data-colour="(\w+)">(.*?)<span>(.*?)<\/span>/g,
  );
  const parts: Record<string, string> = {};
  for (const [, name = "", colour = "", shape, words] of found) {
    expect(shape).toContain(shapes[colour]);
    parts[name] = `${colour}: ${words?.replaceAll("&#x27;", "'")}`;
  }
  return { heading: /<h1>.*?<\/svg>(.*?)<\/h1>/.exec(text)?.[1] ?? "", parts };
}

describe.each(engines)("/status on $name", async (engine) => {
  const isEmbedded = engine.name === "the embedded store";
  const stage = await startStage(engine);
  const service = await Service.make(stage.environment);
  await service.adminJson("banner", "set", "promo", "Friday is <quiet>.");
  await service.run();
  afterAll(() => service.stop({ expectErrors: true }));

  it("is published as data too, for any origin", async () => {
    await until(async () => {
      const { status, headers, text } = await service.ask("/status.json");
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "cache-control": "public, max-age=1",
        "access-control-allow-origin": "*",
      });
      expect(JSON.parse(text)).toEqual({
        checkedAt: expect.stringMatching(/^20.*Z$/),
        parts: [
          { name: "Public API", state: "works", says: "Works" },
          { name: "Accounts and credits", state: "works", says: "Works" },
          { name: "Mail", state: "unknown", says: "Not set up, so nothing is sent" },
          { name: "Rate limits", state: "works", says: "Works" },
          { name: "MCP server", state: "works", says: "Works" },
        ],
        outages: [],
        notice: "Friday is <quiet>.",
        version,
      });
    });
  });

  it("shows that accounts cannot be read, and what else fails because of that", async () => {
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    await until(async () =>
      expect(await look(service)).toMatchObject({
        heading: "Some parts have problems",
        parts: {
          "Public API": "good: Works",
          "Accounts and credits": "stopped: Unavailable",
          Mail: "unknown: The store is unavailable",
          "MCP server": "soon: Works, except the tools that read an account",
        },
      }),
    );
    // The service looks every ten seconds.
    await until(async () =>
      expect((await service.ask("/status")).text).toMatch(
        /<h2>Outages in the last 90 days<\/h2><ul class="outages"><li><b>Accounts and credits<\/b><span><time dateTime="[^"]+" data-shows="day and time">\d+ \w+ at \d\d:\d\d UTC<\/time> until now<\/span><span>[^<]+ so far<\/span><\/li>/,
      ),
    );
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    await until(async () => expect((await look(service)).heading).toBe("All systems work, except mail"));
  });

  it("says as data that outages are not known while they cannot be read", async () => {
    await stage.query("ALTER TABLE status_outages RENAME TO outages_away");
    await until(async () => expect(JSON.parse((await service.ask("/status.json")).text).outages).toBeNull());
    await stage.query("ALTER TABLE outages_away RENAME TO status_outages");
  });

  it("lists the outages that have ended, with their length", async () => {
    await stage.query("DELETE FROM status_outages");
    await stage.query(
      "INSERT INTO status_outages (part, started_at_ms, seen_at_ms, ended_at_ms) VALUES " +
        `('Mail', ${Date.parse("2026-11-20T10:00:00Z")}, ${Date.parse("2026-11-20T10:07:20Z")}, ${Date.parse("2026-11-20T10:07:20Z")})`,
    );
    await until(async () =>
      expect((await service.ask("/status")).text).toContain(
        '<h2>Outages in the last 90 days</h2><ul class="outages"><li><b>Mail</b><span><time dateTime="2026-11-20T10:00:00.000Z" data-shows="day and time">20 November at 10:00 UTC</time> to <time dateTime="2026-11-20T10:07:20.000Z" data-shows="time">10:07 UTC</time></span><span>7 minutes</span></li></ul>',
      ),
    );
    const { text, headers } = await service.ask("/status");
    expect(headers.link).toContain('</status.atom>; rel="alternate"; type="application/atom+xml"');
    expect(text).toMatch(
      /<strong>Mail<\/strong>(?:(?!<\/li>).)*<p class="quiet">Out on 1 day, 7 minutes in all</,
    );
    expect(text).not.toMatch(/<strong>MCP server<\/strong>(?:(?!<\/li>).)*Out on/);
    const feed = await service.ask("/status.atom");
    expect([feed.status, feed.headers["content-type"], feed.headers["cache-control"]]).toEqual([
      200,
      "application/atom+xml; charset=utf-8",
      "public, max-age=60",
    ]);
    const entries = [
      ...feed.text.matchAll(/<entry>\n<id>[^<]*#([^<]+)<\/id>\n<title>([^<]+)<\/title>\n<updated>([^<]+)</g),
    ];
    const began = Date.parse("2026-11-20T10:00:00Z");
    expect(entries.map(([, ...entry]) => entry)).toEqual([
      [`mail-${began}-${began + 440_000}`, "Mail: works again", "2026-11-20T10:07:20.000Z"],
      [`mail-${began}`, "Mail: an outage began", "2026-11-20T10:00:00.000Z"],
    ]);
    expect(feed.text).toContain("<updated>2026-11-20T10:07:20.000Z</updated>");
    const unchanged = { headers: { "if-none-match": String(feed.headers.etag) } };
    expect((await service.ask("/status.atom", unchanged)).status).toBe(304);
    await stage.query("DELETE FROM status_outages");
    await until(async () =>
      expect((await service.ask("/status")).text).toContain("<p>No outage was recorded.</p>"),
    );
  });

  it("says of a part that works here that another instance sees its outage", async () => {
    const at = (time: string) => Date.parse(`2026-11-20T${time}Z`);
    await stage.query(
      "INSERT INTO status_outages (part, started_at_ms, seen_at_ms, ended_at_ms) VALUES " +
        `('Rate limits', ${at("10:00:00")}, ${Date.now() + 3_600_000}, NULL), ` +
        `('Mail', ${at("09:00:10")}, ${at("09:00:40")}, ${at("09:00:40")})`,
    );
    await until(async () =>
      expect(await look(service)).toMatchObject({
        heading: "Rate limits: outage",
        parts: { "Rate limits": "soon: Outage since 10:00:00 UTC" },
      }),
    );
    expect((await service.ask("/status")).text).toMatch(
      /<li><b>Mail<\/b><span><time [^>]+>20 November at 09:00 UTC<\/time> <\/span><span>under a minute</,
    );
    await stage.query("DELETE FROM status_outages");
  });

  // On this engine reads work while writes hang.
  if (isEmbedded)
    it("shows that mail is waiting and not being sent", async () => {
      await until(async () => {
        await service.adminJson("account", "add", `${crypto.randomUUID()}@example.com`);
        const longAgoMs = Date.now() - 3 * 60_000;
        await stage.query(
          `UPDATE onboarding_emails SET next_attempt_at_ms = ${longAgoMs} WHERE state = 'scheduled'`,
        );
        stage.freeze(); // no runner can claim a mail now
        try {
          expect((await look(service)).parts.Mail).toMatch(/^soon: Delayed since \d\d:\d\d:\d\d UTC$/);
        } finally {
          stage.thaw();
        }
      });
    });
});

it("shows since when mail cannot be sent", async () => {
  const service = await Service.start({
    SIGN_IN: "local",
    ...besideDatabaseUrl,
    SMTP_URL: `smtp://127.0.0.1:${await reservePort()}`,
    EMAIL_FROM: "office@example.com",
  });
  await until(async () =>
    expect(await look(service)).toMatchObject({
      heading: "All systems work",
      parts: { Mail: "good: Works" },
    }),
  );
  await service.adminJson("account", "add", "ceo@example.com");
  await service.submit("/sign-in/send", { email: "ceo@example.com" });
  await until(async () => {
    const { heading, parts } = await look(service);
    expect(parts.Mail).toMatch(/^stopped: Not accepted for delivery since \d\d:\d\d:\d\d UTC$/);
    expect(heading).toBe("Mail: not accepted for delivery");
  });
  await service.stop();
});

it("shows no notice, unavailable shared counters, missing sign-in, and that the service is stopping", async () => {
  const service = await Service.start({
    ...besideDatabaseUrl,
    SIGN_IN: "none",
    REDIS_URL: "redis://127.0.0.1:9",
    DRAIN_SECONDS: "5",
  });
  expect((await service.ask("/status")).text).not.toContain("<h2>Notice</h2>");
  const { parts } = await look(service);
  expect(parts["Rate limits"]).toBe(
    "soon: Counted separately on each instance: the shared counters are unavailable",
  );
  expect(parts["Accounts and credits"]).toBe("soon: Sign-in is not set up");
  service.signal("SIGTERM");
  await until(async () => {
    const { "Public API": api, "MCP server": mcp } = (await look(service)).parts;
    expect(new Set([api, mcp])).toEqual(new Set(["soon: Starting or stopping: accepts no new visitors"]));
  });
  await service.kill();
});
