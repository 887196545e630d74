import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseSettings } from "@/lib/config/settings";
import { recipients } from "@/lib/docs/documents/privacy";
import { borrowService, startService } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { supportEmail } from "@/tests/support/lent-service";
import type { Service } from "@/tests/support/service";

const read = async (service: Service, path: string) => (await service.ask(`${path}.md`)).text;

describe("/privacy and /terms", async () => {
  const { service } = await borrowService(engines[0]);

  it("states what is kept and for how long, by the service's own limits", async () => {
    const text = await read(service, "/privacy");
    for (const line of [
      "| The waitlist: your email, when you joined, confirmed it and were invited, and hashes of the mailbox and of the mailed link | 730 days after you joined; 30 days if you neither confirm nor are invited |",
      "| A requested sign-in code: the email typed, and hashes of the code, of the browser's secret and of the network address | 1 day |",
      "| The mails to you, in files | 730 days after they were written |",
      "| `office-client` | Keeps you signed in | 90 days |",
      "| `__session` | Shows that you are signed in | 1 minute |",
      "| `office-known` | Shows that you have signed in with this browser before, so that strangers cannot use up your sign-in codes | 180 days |",
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain("Clerk");
  });

  it("names every cookie that the service sets", async () => {
    const text = await read(service, "/privacy");
    await service.adminJson("account", "add", "ceo@example.com");
    const answer = await service.submit("/sign-in/send", { email: "ceo@example.com" });
    for (const cookie of answer.headers["set-cookie"] ?? []) {
      expect(text).toContain(`\`${cookie.split("=")[0]}\``);
    }
  });

  it("are not in the menu of the documents, and do not claim a source that no one can read", async () => {
    const menu = /<nav aria-label="Documents">.*?<\/nav>/s.exec((await service.ask("/docs")).text)?.[0];
    expect(menu).toContain('href="/docs/api"');
    for (const path of ["/privacy", "/terms"]) expect(menu).not.toContain(`href="${path}"`);
    expect(await read(service, "/terms")).not.toContain("open source");
  });

  it("says that the operator is not named, and where questions go", async () => {
    for (const path of ["/privacy", "/terms"]) {
      const text = await read(service, path);
      expect(text).toContain(
        `The operator of Corner Office at localhost:${service.port} has not given a name here.`,
      );
      expect(text).toContain(`Questions go to [${supportEmail}](mailto:${supportEmail}).`);
    }
  });

  it.each(["/", "/docs", "/no/such/page"])("are linked at the foot of %s", async (path) => {
    const foot = /<footer.*<\/footer>/s.exec((await service.ask(path)).text)?.[0];
    expect(foot).toContain('<a href="/privacy">Privacy</a><a href="/terms">Terms</a>');
  });

  it("are linked next to every field for an email", async () => {
    const { url } = await service.adminJson<{ url: string }>("invite", "invited@example.com");
    for (const path of ["/", "/waitlist", "/sign-in", url.replace(service.url, "")]) {
      const main = /<main.*<\/main>/s.exec((await service.ask(path)).text)?.[0];
      expect(main, path).toContain('type="email"');
      expect(main, path).toContain('<a href="/privacy">Privacy</a> · <a href="/terms">Terms</a>');
    }
  });
});

describe("the recipients of personal data", () => {
  const clerk = {
    CLERK_PUBLISHABLE_KEY: `pk_live_${Buffer.from("clerk.example.com$").toString("base64")}`,
    CLERK_SECRET_KEY: "sk_live_x",
    CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${Buffer.from("w".repeat(24)).toString("base64")}`,
    CLERK_JWT_KEY: generateKeyPairSync("rsa", { modulusLength: 2048 })
      .publicKey.export({ type: "spki", format: "pem" })
      .toString(),
  };
  /** Each setting with which data leaves, with those that it needs, and whom it names. */
  const named: Record<string, [settings: Record<string, string>, recipient: string]> = {
    CLERK_SECRET_KEY: [clerk, "Clerk"],
    RESEND_API_KEY: [{ RESEND_API_KEY: "re_x", EMAIL_FROM: "a@example.com" }, "Resend"],
    SMTP_URL: [{ SMTP_URL: "smtps://mail.example.com", EMAIL_FROM: "a@example.com" }, "The mail server"],
    STRIPE_SECRET_KEY: [
      {
        STRIPE_SECRET_KEY: "sk_live_x",
        STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef",
        STRIPE_LICENCE_PRICES: "price_1",
      },
      "Stripe",
    ],
    DATABASE_URL: [{ DATABASE_URL: "postgres://db.example.com/office" }, "The PostgreSQL server"],
    REDIS_URL: [{ REDIS_URL: "rediss://redis.example.com" }, "The Redis server"],
    UPSTASH_REDIS_REST_URL: [
      { UPSTASH_REDIS_REST_URL: "https://x.upstash.io", UPSTASH_REDIS_REST_TOKEN: "x" },
      "Upstash",
    ],
  };
  /** Settings that are addresses or keys, and send no one's data anywhere, or only where one above does. */
  const others = [
    ...["APP_URL", "OFFICE_URL", "PRIVACY_URL", "TERMS_URL", "SOURCE_URL", "DATABASE_DIRECT_URL"],
    ...["CLERK_API_URL", "CLERK_PUBLISHABLE_KEY", "CLERK_JWT_KEY", "RESEND_BASE_URL", "STRIPE_API_URL"],
    ...["UPSTASH_REDIS_REST_TOKEN", "DKIM_PRIVATE_KEY"],
  ];
  const read = (more: Record<string, string>) =>
    recipients(parseSettings({ APP_URL: "https://office.example.com", APP_SECRET: "s".repeat(32), ...more }));

  it("are the operator and the approved apps where nothing else is configured", () => {
    expect(read({}).map((line) => line.split(/[,:]/)[0])).toEqual([
      "The operator",
      "The apps that you approve",
    ]);
  });

  it.each(Object.entries(named))("include the one that %s names", (_, [more, recipient]) => {
    const [added, ...rest] = read(more).filter((line) => !read({}).includes(line));
    expect(added).toMatch(new RegExp(`^${recipient}\\b`));
    expect(rest).toEqual([]);
  });

  it("are known for every setting that names another service", () => {
    const names = readFileSync(".env.example", "utf8").matchAll(/^([A-Z_]+_(?:URL|KEY|TOKEN))=/gm);
    expect([...names].map(([, name]) => name).sort()).toEqual([...Object.keys(named), ...others].sort());
  });
});

describe("with the operator's settings", async () => {
  const service = await startService({
    SIGN_IN: "local",
    RETENTION_DAYS: "90",
    OPERATOR_NAME: "Example [Office] GmbH",
    OPERATOR_ADDRESS: "1 Example Street, 10115 Berlin, Germany",
    SOURCE_URL: "https://example.com/source",
    TERMS_URL: "https://example.com/terms?v=1",
  });

  it("names the operator and the address, on both pages and in the footer", async () => {
    const words = `Corner Office at localhost:${service.port} is run by Example \\[Office\\] GmbH, 1 Example Street, 10115 Berlin, Germany.`;
    expect(await read(service, "/privacy")).toContain(words);
    const page = (await service.ask("/privacy")).text;
    expect(page).toContain(words.replaceAll("\\", ""));
    expect(page).toMatch(/<footer.*, run by Example \[Office\] GmbH/s);
  });

  it("calls the software open source where its source can be read", async () => {
    const page = (await service.ask("/docs")).text;
    expect(page).toMatch(/<footer.*<a href="https:\/\/example\.com\/source">Source<\/a>/s);
  });

  it("uses the configured retention period", async () => {
    expect(await read(service, "/privacy")).toContain("| 90 days after you joined; ");
  });

  it("says whom to ask, because there is no address for questions", async () => {
    const paths = [...(await service.ask("/sitemap.xml")).text.matchAll(/<loc>http:\/\/[^/]*([^<]*)/g)];
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths.map(([, path = ""]) => path)) {
      const { text } = await service.ask(path);
      expect(text, path).not.toMatch(/(contact|write to|email) us\b/i);
    }
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const { token } = await service.adminJson<{ token: string }>("token", "ended@example.com");
    const headers = { authorization: `Bearer ${token}` };
    expect(JSON.parse((await service.ask("/api/entitlement", { headers })).text).error.hint).toContain(
      "For a plan, ask the person who invited you;",
    );
  });

  it("leads to the operator's own terms instead of ours", async () => {
    const text = await read(service, "/terms");
    expect(text).toContain("The terms are at <https://example.com/terms?v=1>.");
    expect(text).not.toContain("Your account");
    const page = (await service.ask("/sign-in")).text;
    expect(page).toContain('<a href="https://example.com/terms?v=1">Terms</a>');
    expect(page).not.toContain('href="/terms"');
  });
});
