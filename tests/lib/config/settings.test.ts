import { generateKeyPairSync } from "node:crypto";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSettings, settingNames } from "@/lib/config/settings";
import { type Environment, Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const secret = "s".repeat(32);
const database = {
  DATABASE_URL: "postgres://db/x",
  APP_URL: "https://office.example.com",
  APP_SECRET: secret,
};
const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync("rsa", { modulusLength, publicExponent })
    .publicKey.export({ type: "spki", format: "pem" })
    .toString();
const ec = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const prices = (count: number) => Array.from({ length: count }, (_, n) => `price_pack_${n}`).join();
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const key = rsa(2048);
const clerk = {
  APP_URL: "https://office.example.com",
  CLERK_PUBLISHABLE_KEY: `pk_test_${Buffer.from("clerk.office.example.com$").toString("base64")}`,
  CLERK_SECRET_KEY: "sk_test_x",
  CLERK_JWT_KEY: key,
  CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${Buffer.from("w".repeat(24)).toString("base64")}`,
};

const pem = (modulusLength: number) =>
  generateKeyPairSync("rsa", { modulusLength })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
const world = { APP_URL: "https://office.example.com", EMAIL_FROM: "office@example.com" };
const resend = { ...world, RESEND_API_KEY: "re_secret" };
const smtp = { ...world, SMTP_URL: "smtp://me:pw%40@smtp.example.com" };
const stripe = {
  APP_URL: "https://office.example.com",
  STRIPE_SECRET_KEY: "sk_test_x",
  STRIPE_WEBHOOK_SECRET: "whsec_x",
  STRIPE_LICENCE_PRICES: "price_a, price_b",
};
const dkim = { ...smtp, DKIM_DOMAIN: "example.com", DKIM_SELECTOR: "mail", DKIM_PRIVATE_KEY: pem(2048) };

const upstash = { UPSTASH_REDIS_REST_URL: "https://x.upstash.io", UPSTASH_REDIS_REST_TOKEN: "t" };

describe("parseSettings", () => {
  it("accepts an empty environment", () => {
    expect(parseSettings({})).toMatchObject({
      appUrl: "http://localhost:3000",
      signIn: { kind: "local" },
      requestsPerMinute: { health: 120, mcp: 60 },
      trustedProxyHops: 0,
      port: 3000,
      logLevel: "info",
      databaseUrl: undefined,
      upstash: undefined,
    });
  });

  // kubernetes/kubernetes#23404, moby/moby#46773
  it("reads a value with the line break of a secret, or in the quotes of an --env-file, as the one that is meant", () => {
    const meant: Environment = {
      ...stripe,
      ...upstash,
      ...resend,
      APP_SECRET: secret,
      PORT: "4000",
      SIGN_IN: "local",
    };
    for (const wrap of [
      (value: string) => `${value}\n`,
      (value: string) => `${value}\r\n`,
      (value: string) => `${value} `, // `set NAME=value && node …` on Windows
      (value: string) => `"${value}"`,
      (value: string) => `'${value}'\n`,
    ]) {
      const { APP_SECRET, ...others } = meant;
      const sent = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, wrap(value)]));
      expect(parseSettings({ ...sent, APP_SECRET })).toEqual(parseSettings(meant));
      expect(parseSettings({ APP_SECRET: wrap(secret) }).appSecret).toBe(wrap(secret));
    }
    expect(parseSettings({ APP_URL: '""' })).toEqual(parseSettings({}));
    expect(parseSettings({ EMAIL_FROM: '"Corner, Office" <o@example.com>' }).mail.from.name).toBe(
      "Corner, Office",
    );
  });

  it("sells nothing unless Stripe is set up", () => {
    expect(parseSettings({}).billing).toBeUndefined();
    expect(parseSettings(stripe).billing).toMatchObject({
      licencePrices: ["price_a", "price_b"],
      creditPrices: [],
      lapsedPlan: "trial-ended",
      graceDays: 14,
      hasTax: false,
      hasPromotionCodes: false,
      apiUrl: undefined,
    });
  });

  it("drains for five seconds in production", () => {
    const processQueue = (environment: Environment) => parseSettings(environment).drainSeconds;
    expect(processQueue({})).toBe(0);
    expect(processQueue({ NODE_ENV: "production" })).toBe(5);
    expect(processQueue({ NODE_ENV: "production", DRAIN_SECONDS: "0" })).toBe(0);
  });

  it("treats an empty value as unset", () => {
    expect(parseSettings({ PORT: "", APP_SECRET: " ", SIGN_IN: "", TRUSTED_PROXY_HOPS: "" })).toEqual(
      parseSettings({}),
    );
  });

  it("derives its address from the port if APP_URL is unset", () => {
    expect(parseSettings({ PORT: "4000" }).appUrl).toBe("http://localhost:4000");
  });

  it.each(["https://office.example.com/", "http://127.0.0.1:3000", "http://[::1]:3000"])(
    "accepts the address %s",
    (APP_URL) => {
      expect(parseSettings({ APP_URL }).appUrl).toBe(APP_URL.replace(/\/$/, ""));
    },
  );

  it("sends HSTS for a year if APP_URL is https, with subdomains if that is set", () => {
    const APP_URL = "https://office.example.com";
    expect(parseSettings({}).hsts).toBeUndefined();
    expect(parseSettings({ HSTS_INCLUDE_SUBDOMAINS: "true" }).hsts).toBeUndefined();
    expect(parseSettings({ APP_URL }).hsts).toBe("max-age=31536000");
    expect(parseSettings({ APP_URL, HSTS_INCLUDE_SUBDOMAINS: "true" }).hsts).toBe(
      "max-age=31536000; includeSubDomains",
    );
  });

  it("warns of Clerk's test keys at a public address", () => {
    const warningsAt = (changed: Environment) => parseSettings({ ...clerk, ...changed }).warnings;
    expect(warningsAt({})).toEqual([
      "CLERK_PUBLISHABLE_KEY: belongs to a test instance, while APP_URL is https://office.example.com: use a live instance",
    ]);
    for (const APP_URL of ["http://localhost:3000", "https://127.0.0.1:3000", "https://office.test"]) {
      expect(warningsAt({ APP_URL })).toEqual([]);
    }
    expect(warningsAt({ SIGN_IN: "none" })).toEqual([]);
    const CLERK_PUBLISHABLE_KEY = clerk.CLERK_PUBLISHABLE_KEY.replace("_test_", "_live_");
    expect(warningsAt({ CLERK_PUBLISHABLE_KEY, CLERK_SECRET_KEY: "sk_live_x" })).toEqual([]);
  });

  it("takes words in any letter case, and Python's for a warning", () => {
    expect(parseSettings({ LOG_LEVEL: "WARNING" }).logLevel).toBe("warn");
    expect(parseSettings({ LOG_LEVEL: "Debug", SIGN_IN: "None" })).toMatchObject({
      logLevel: "debug",
      signIn: { kind: "none" },
    });
  });

  it("says of what it refuses that a comment behind it is a part of it", () => {
    const stays =
      ". Put comments on lines of their own: systemd and docker run take them for a part of the value";
    expect(() => parseSettings({ PORT: "3000 # behind Caddy" })).toThrow(
      `PORT: must be a whole number from 1 to 65535${stays}`,
    );
    expect(() => parseSettings({ PORT: "3000#" })).toThrow(/^PORT: must be a whole number from 1 to 65535$/);
  });

  it("warns of a collector's port for gRPC", () => {
    const warningsAt = (OTEL_EXPORTER_OTLP_ENDPOINT: string) =>
      parseSettings({ OTEL_EXPORTER_OTLP_ENDPOINT }).warnings;
    expect(warningsAt("http://collector:4317")).toEqual([
      "OTEL_EXPORTER_OTLP_ENDPOINT: 4317 is a collector's port for gRPC, which is not spoken here: HTTP has 4318",
    ]);
    expect(warningsAt("http://collector:4318")).toEqual([]);
  });

  it("uses Clerk when its keys are set, with the JWT key in every format", () => {
    const body = key.replace(/-----[A-Z ]+-----|\n/g, "");
    for (const CLERK_JWT_KEY of [key, `"${key.replaceAll("\n", "\\n")}"`, body, btoa(key)]) {
      const { signIn } = parseSettings({ ...clerk, CLERK_JWT_KEY });
      expect(signIn).toMatchObject({
        kind: "clerk",
        issuer: "https://clerk.office.example.com",
        authorizedParties: ["https://office.example.com"],
      });
    }
    expect(parseSettings({ ...clerk, SIGN_IN: "none" }).signIn).toEqual({ kind: "none" });
  });

  it("accepts the publishable key under Next's name, and reads the authorized parties", () => {
    const { CLERK_PUBLISHABLE_KEY, ...others } = clerk;
    const CLERK_AUTHORIZED_PARTIES = "https://a.example, https://b.example:8443";
    const { signIn } = parseSettings({
      ...others,
      NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY: CLERK_PUBLISHABLE_KEY,
      CLERK_AUTHORIZED_PARTIES,
    });
    expect(signIn).toMatchObject({ authorizedParties: ["https://a.example", "https://b.example:8443"] });
  });

  it("writes mail to files if no sender is set", () => {
    const from = { name: "Corner Office", address: "office@localhost" };
    expect(parseSettings({}).mail).toEqual({ kind: "files", from });
    const EMAIL_FROM = "The Office <office@example.com>";
    expect(parseSettings({ EMAIL_FROM }).mail.from).toEqual({
      name: "The Office",
      address: "office@example.com",
    });
  });

  it("sends by Resend when its key is set", () => {
    const RESEND_WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, "k").toString("base64")}`;
    expect(
      parseSettings({ ...resend, RESEND_WEBHOOK_SECRET, SUPPORT_EMAIL: "help@example.com" }),
    ).toMatchObject({
      mail: {
        kind: "resend",
        from: { name: "Corner Office", address: "office@example.com" },
        apiKey: "re_secret",
        baseUrl: "https://api.resend.com",
        webhookKey: Buffer.alloc(24, "k"),
      },
      supportEmail: "help@example.com",
    });
  });

  it("sends by SMTP when its address is set, without TLS only to a loopback server", () => {
    expect(parseSettings(smtp).mail).toMatchObject({
      kind: "smtp",
      server: {
        host: "smtp.example.com",
        port: 587,
        secure: false,
        requireTLS: true,
        auth: { user: "me", pass: "pw@" },
      },
      dkim: undefined,
    });
    const at = (SMTP_URL: string) => parseSettings({ ...smtp, SMTP_URL }).mail;
    expect(at("smtps://smtp.example.com")).toMatchObject({
      server: { port: 465, secure: true, auth: undefined },
    });
    expect(at("smtp://[::1]:2525")).toMatchObject({ server: { host: "::1", port: 2525, requireTLS: false } });
  });

  it.each([
    ["me:100%", "100%"],
    ["me:%zz%", "%zz%"],
    ["me:100%25", "100%"],
    ["me:p@ss", "p@ss"],
    ["me:p:a/s?s#w", "p:a/s?s#w"],
    ["me:a@b.example/c", "a@b.example/c"],
    ["me:$2b$10$x+/=", "$2b$10$x+/="],
    ["me:p%C3%A9", "pé"],
    ["me:p%E9", "p%E9"],
  ])("takes the password of smtp://%s@… as it is meant", (credentials, pass) => {
    for (const rest of ["smtp.example.com", "smtp.example.com:2525/", "[2001:db8::1]"])
      expect(parseSettings({ ...smtp, SMTP_URL: `smtp://${credentials}@${rest}` }).mail).toMatchObject({
        server: { host: rest.replace(/[[\]/]|:2525/g, ""), auth: { user: "me", pass } },
      });
  });

  it("takes an email as the user of an SMTP server", () => {
    const { mail } = parseSettings({ ...smtp, SMTP_URL: "smtps://office@example.com:p@w@smtp.example.com" });
    expect(mail).toMatchObject({ server: { auth: { user: "office@example.com", pass: "p@w" } } });
  });

  it("signs with DKIM when its key is set, in every format", () => {
    const { DKIM_PRIVATE_KEY: given } = dkim;
    for (const DKIM_PRIVATE_KEY of [given, `"${given.replaceAll("\n", "\\n")}"`, btoa(given)]) {
      expect(parseSettings({ ...dkim, DKIM_PRIVATE_KEY }).mail).toMatchObject({
        dkim: { domainName: "example.com", keySelector: "mail", privateKey: dkim.DKIM_PRIVATE_KEY },
      });
    }
    const EMAIL_FROM = "office@mail.example.com";
    expect(parseSettings({ ...dkim, EMAIL_FROM }).mail).toHaveProperty("dkim.domainName", "example.com");
    for (const [EMAIL_FROM, DKIM_DOMAIN, domainName] of [
      ["office@Example.com", "EXAMPLE.com", "example.com"],
      ["office@bücher.example", "bücher.example", "xn--bcher-kva.example"],
    ])
      expect(parseSettings({ ...dkim, EMAIL_FROM, DKIM_DOMAIN }).mail).toMatchObject({
        dkim: { domainName },
      });
  });

  const documents =
    "takes the whole addresses of metadata documents, like https://vscode.dev/oauth/client-metadata.json, or none";
  const known = "https://zed.dev/oauth/client-metadata.json";
  /** Each of these lines of `.env` stops the start next to the other settings, and this is said of it. */
  const refuses = (others: Environment, lines: Record<string, string>) =>
    it.each(Object.entries(lines))("refuses %s: %s", (line, words) => {
      const [name = "", value = ""] = line.split(/=(.*)/s);
      const start = () => parseSettings({ ...others, [name]: value });
      expect(start).toThrow(/^[A-Z_, ]+: /.test(words) ? words : `${name}: ${words}`);
      for (const told of [secret, "sk_test_x", "re_secret", "pw%40", "BEGIN PRIVATE"]) {
        expect(start).not.toThrow(told);
      }
    });
  refuses(
    {},
    {
      "PASSKEY_HOST=https://office.example.com": "must be a host name like office.example.com",
      "APP_URL=office": "must be an address like https://office.example.com",
      "APP_URL=https://${RAILWAY_PUBLIC_DOMAIN}":
        "must have a name as its host: nothing is put in place of a $ here",
      "APP_URL=ftp://office.example.com": "must be an address like https://office.example.com",
      "APP_URL=http://office.example.com": "must be https unless it is a loopback address",
      "APP_URL=https://office.example.com/app": "must be an origin only: no path, query or credentials",
      "BACKEND_URL=https://backend.example.com": "BACKEND_HOST, BACKEND_URL: need BACKEND_PORT",
      "BACKEND_HOST=0.0.0.0": "BACKEND_HOST, BACKEND_URL: need BACKEND_PORT",
      "OFFICE_URL=https://desk.example.com": "OFFICE_HOST, OFFICE_URL: need OFFICE_PORT",
      "OFFICE_HOST=0.0.0.0": "OFFICE_HOST, OFFICE_URL: need OFFICE_PORT",
      "PORT=65536": "must be a whole number from 1 to 65535",
      "TRUSTED_PROXY_HOPS=-1": "must be a whole number from 0 to 10",
      "TRUSTED_PROXY_HOPS=11": "must be a whole number from 0 to 10",
      "HOSTED_AGENT_NETWORKS=203.0.113.0/33":
        "takes networks like 203.0.113.0/24 or 2001:db8::/32, not 203.0.113.0/33",
      "OTEL_EXPORTER_OTLP_ENDPOINT=collector": "must be an http(s) address like http://collector:4318",
      "OTEL_EXPORTER_OTLP_ENDPOINT=ftp://collector": "must be an http(s) address like http://collector:4318",
      "HOSTED_AGENT_NETWORKS=203.0.113.0/24, 203.0.113.7":
        "takes networks like 203.0.113.0/24 or 2001:db8::/32, not 203.0.113.7",
      "RATE_LIMIT_HEALTH=0": "must be a whole number from 1 to 100000000",
      "APP_SECRET=short": "must be 32 characters or more",
      "HSTS_INCLUDE_SUBDOMAINS=yes": "must be true or false",
      "SUPPORT_EMAIL=help": "must be an email address",
      "OPENAI_APPS_CHALLENGE=openai-apps-challenge: A467": "must be the token from OpenAI alone",
      "SOURCE_URL=example.com": "must be an http(s) address",
      "APPS=Desk | macOS | ftp://a.example":
        "must be apps like Desk | macOS and Windows | https://example.com/desk; Pocket | iOS | https://…",
      "APPS=| iOS | https://a.example":
        "must be apps like Desk | macOS and Windows | https://example.com/desk; Pocket | iOS | https://…",
      "TERMS_URL=javascript:alert(1)": "must be an http(s) address",
      "SIGN_IN=oauth": "must be clerk, local or none",
      "SIGN_IN=clerk":
        "is clerk, which needs CLERK_PUBLISHABLE_KEY, CLERK_SECRET_KEY, CLERK_JWT_KEY, CLERK_WEBHOOK_SIGNING_SECRET",
      "CONNECT_CLIENT_HOSTS=claude.ai":
        "is now CONNECT_CLIENTS, which takes the whole addresses of metadata documents; leave both out for the known agents",
      [`CONNECT_CLIENTS=${known}, http://claude.ai/c.json`]: `${documents}; not http://claude.ai/c.json`,
      [`CONNECT_CLIENTS=${known}, https://a.ai/c.json#a`]: `${documents}; not https://a.ai/c.json#a`,
      [`CONNECT_CLIENTS=${known}, https://Claude.ai/c.json`]: `${documents}; not https://Claude.ai/c.json`,
      [`CONNECT_CLIENTS=${known}, https://127.0.0.1/c.json`]: `${documents}; not https://127.0.0.1/c.json`,
      [`CONNECT_CLIENTS=${known}, https://[::1]/c.json`]: `${documents}; not https://[::1]/c.json`,
      [`CONNECT_CLIENTS=${known}, https://me@claude.ai/c.json`]: `${documents}; not https://me@claude.ai/c.json`,
      [`CONNECT_CLIENTS=${known}, https://claude.ai/`]: `${documents}; not https://claude.ai/`,
      [`CONNECT_CLIENTS=${known}, https://localhost/c.json`]: `${documents}; not https://localhost/c.json`,
      "EMAIL_FROM=office": "must be an address like office@example.com or Corner Office <office@example.com>",
      "EMAIL_FROM=A\r\nBcc: x <office@example.com>": "must be an address like",
      "EMAIL_FROM=A\u0007 <office@example.com>": "must be an address like",
    },
  );
  refuses(traced, {
    "OTEL_TRACES_SAMPLER_ARG=-0.1": "must be a number from 0 to 1",
    "OTEL_TRACES_SAMPLER_ARG=1.1": "must be a number from 0 to 1",
    "OTEL_TRACES_SAMPLER_ARG=half": "must be a number from 0 to 1",
  });
  refuses(database, {
    "APP_URL=": "is required with DATABASE_URL, with Clerk, with Stripe and to send mail",
    "APP_SECRET=":
      "is required with DATABASE_URL, Upstash or REDIS_URL, because every instance must derive the same keys",
    "UPSTASH_REDIS_REST_URL=https://x.upstash.io":
      "UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: set both or neither",
    "REDIS_URL=https://redis.example.com":
      "must be an address like rediss://user:password@redis.example.com:6379, redis+sentinel://a:26379,b:26379/0?master=name or redis+cluster://a:6379,b:6379",
  });
  refuses(
    { APP_URL: "https://office.example", REDIS_URL: "rediss://redis.example.com" },
    { "APP_SECRET=": "is required with DATABASE_URL, Upstash or REDIS_URL" },
  );
  refuses(
    { ...upstash, APP_SECRET: secret },
    {
      "UPSTASH_REDIS_REST_URL=redis://x": "must be an http(s) address",
      "REDIS_URL=rediss://redis.example.com": "REDIS_URL, UPSTASH_REDIS_REST_URL: set one, not both",
    },
  );
  refuses(clerk, {
    "CLERK_WEBHOOK_SIGNING_SECRET=whsec_short": "is not a signing secret (whsec_…)",
    "CLERK_SECRET_KEY=x": "is not a Clerk secret key (sk_live_… or sk_test_…)",
    "CLERK_SECRET_KEY=sk_live_x": "belongs to another instance than CLERK_PUBLISHABLE_KEY (live or test)",
    "CLERK_JWT_KEY=": "CLERK_JWT_KEY: missing, while other Clerk keys are set",
    "CLERK_PUBLISHABLE_KEY=": "CLERK_PUBLISHABLE_KEY: missing, while other Clerk keys are set",
    "CLERK_SECRET_KEY=": "CLERK_SECRET_KEY: missing, while other Clerk keys are set",
    "CLERK_WEBHOOK_SIGNING_SECRET=": "CLERK_WEBHOOK_SIGNING_SECRET: missing, while other Clerk keys are set",
    [`CLERK_JWT_KEY=${rsa(2056)}`]: "is not an RSA-2048 public key in PEM form",
    [`CLERK_JWT_KEY=${rsa(2048, 3)}`]: "is not an RSA-2048 public key in PEM form",
    [`CLERK_JWT_KEY=${ec.publicKey}`]: "is not an RSA-2048 public key in PEM form",
    "CLERK_AUTHORIZED_PARTIES=https://office.example.com/app": "must be origins separated by commas",
    "CLERK_PUBLISHABLE_KEY=pk_test_x": "is not a Clerk publishable key (pk_live_… or pk_test_…)",
    "CLERK_AUTHORIZED_PARTIES=office.example.com": "must be origins separated by commas",
  });
  refuses(resend, {
    "APP_URL=http://localhost:3000": "must be https with RESEND_API_KEY, because the links in mail go there",
    "EMAIL_FROM=": "is required with RESEND_API_KEY",
    "RESEND_API_KEY=sk_test_x": "is not a key of Resend (re_…)",
    "RESEND_WEBHOOK_SECRET=x": "is not a signing secret (whsec_…)",
    "RESEND_BASE_URL=ftp://localhost": "must be an https address, or http on a loopback one",
    "RESEND_BASE_URL=http://resend.example.com": "must be an https address, or http on a loopback one",
  });
  refuses(smtp, {
    "RESEND_API_KEY=re_secret": "RESEND_API_KEY, SMTP_URL: set one, not both",
    "SMTP_URL=smtp.example.com:587": "must be an address like smtps://user:password@smtp.example.com",
    "SMTP_URL=smtp://me:p@smtp.example.com/inbox":
      "must be an address like smtps://user:password@smtp.example.com",
    "SMTP_URL=smtp://me@smtp.example.com": "must be an address like smtps://user:password@smtp.example.com",
    "SMTP_URL=smtp://smtp.example.com:65536":
      "must be an address like smtps://user:password@smtp.example.com",
  });
  refuses(dkim, {
    "DKIM_DOMAIN=": "missing, while other DKIM settings are set",
    "DKIM_PRIVATE_KEY=": "missing, while other DKIM settings are set",
    [`DKIM_PRIVATE_KEY=${ec.privateKey}`]: "is not an RSA private key in PEM form, of 2048 bits or more",
    "DKIM_SELECTOR=": "missing, while other DKIM settings are set",
    "SMTP_URL=": "DKIM_DOMAIN: needs SMTP_URL",
    "EMAIL_FROM=office@badexample.com": "DKIM_DOMAIN: must be the domain of EMAIL_FROM, or one above it",
    "DKIM_SELECTOR=a;b": "must be a name like mail",
    [`DKIM_PRIVATE_KEY=${pem(1024)}`]: "is not an RSA private key in PEM form, of 2048 bits or more",
  });
  refuses(stripe, {
    "STRIPE_WEBHOOK_SECRET=": "STRIPE_WEBHOOK_SECRET: missing, while other settings of billing are set",
    "STRIPE_SECRET_KEY=": "STRIPE_SECRET_KEY: missing, while other settings of billing are set",
    "STRIPE_SECRET_KEY=pk_test_x": "is not a secret or restricted key",
    "STRIPE_WEBHOOK_SECRET=x": "is not a signing secret (whsec_…)",
    "STRIPE_LICENCE_PRICES=prod_x":
      "STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: prod_x is not the id of a price (price_…)",
    [`STRIPE_CREDIT_PRICES=${prices(9)}`]:
      "STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: must name at most 10 prices, each of them once",
    "STRIPE_CREDIT_PRICES=price_a": "must name at most 10 prices, each of them once",
    "LAPSED_PLAN=free": "must be trial-ended or hobby",
    "STRIPE_TAX=yes": "must be none or automatic",
    "STRIPE_PROMOTION_CODES=yes": "must be off or on",
    "LICENCE_GRACE_DAYS=2w": "must be a whole number from 0 to 999",
    "STRIPE_API_URL=http://stripe.example.com": "must be an http address on loopback",
    "STRIPE_API_URL=https://127.0.0.1": "must be an http address on loopback",
  });

  it.each([
    [{}, "PORT", "65535"],
    [{}, "TRUSTED_PROXY_HOPS", "10"],
    [database, "DATABASE_DIRECT_URL", "postgres://db/x"],
    [database, "VERCEL", "1"],
    [{}, "HOSTED_AGENT_NETWORKS", "203.0.113.7/32, 2001:db8::1/128"],
    [traced, "OTEL_TRACES_SAMPLER_ARG", "0"],
    [traced, "OTEL_TRACES_SAMPLER_ARG", "1"],
    [resend, "RESEND_BASE_URL", "http://localhost:1"],
    [smtp, "SMTP_URL", "smtp://smtp.example.com:65535"],
    [stripe, "STRIPE_CREDIT_PRICES", prices(8)],
  ])("takes, next to %j, %s=%s", (others, name, value) => {
    expect(() => parseSettings({ ...others, [name]: value })).not.toThrow();
  });

  it("reports all problems at once, one per line", () => {
    expect(() => parseSettings({ PORT: "x", SIGN_IN: "y", APP_URL: "z" })).toThrow(
      /^APP_URL: .*\nSIGN_IN: .*\nPORT: .*$/,
    );
    const unreadable = { ...clerk, CLERK_JWT_KEY: "x", SIGN_IN: "clerk" };
    expect(() => parseSettings(unreadable), "one fault, not a second for it").toThrow(/^CLERK_JWT_KEY: .*$/);
    const ofNoInstance = () => parseSettings({ ...clerk, CLERK_PUBLISHABLE_KEY: "pk_x" });
    expect(ofNoInstance).toThrow(/^CLERK_PUBLISHABLE_KEY: .*$/);
  });
});

it("the address that Kubernetes gives of a service named backend is no setting", () => {
  const links = {
    BACKEND_PORT: "tcp://10.96.0.5:80",
    OFFICE_PORT: "tcp://10.96.0.6:80",
    METRICS_PORT: "udp://10.96.0.7:1",
  };
  expect(parseSettings(links)).toMatchObject({
    backend: undefined,
    office: undefined,
    metricsPort: undefined,
  });
});

describe("a setting in a file", () => {
  const inFile = (text: string, more: Environment = {}) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "office-"));
    const APP_SECRET_FILE = join(folder.path, "app-secret");
    writeFileSync(APP_SECRET_FILE, text);
    return parseSettings({ APP_SECRET_FILE, ...more }).appSecret;
  };

  it.each([secret, `${secret}\n`, `${secret}\r\n\r\n`, `\uFEFF${secret}`])("is read from %j", (text) => {
    expect(inFile(text)).toBe(secret);
  });

  it("keeps the blanks at its end, and the line breaks within", () => {
    expect(inFile(` ${secret}\n${secret}  \n`)).toBe(` ${secret}\n${secret}  `);
  });

  it("is refused if its file is empty or is not there, and next to the setting itself", () => {
    expect(() => inFile(" \n")).toThrow(/^APP_SECRET_FILE: \S+ is empty$/);
    expect(() => inFile(secret, { APP_SECRET: secret })).toThrow(
      /^APP_SECRET, APP_SECRET_FILE: set one, not both$/,
    );
    expect(inFile(secret, { APP_SECRET: " " })).toBe(secret);
    expect(() => parseSettings({ DKIM_PRIVATE_KEY_FILE: "/nowhere", SMTP_URL_FILE: "/" })).toThrow(
      "SMTP_URL_FILE: / cannot be read (EISDIR)\nDKIM_PRIVATE_KEY_FILE: /nowhere cannot be read (ENOENT)",
    );
  });

  it("may be any, and leaves variables of others alone", () => {
    expect(parseSettings({ SSL_CERT_FILE: "/nowhere", PORT_FILE: "" }).port).toBe(3000);
  });
});

describe("on a platform", () => {
  it("the store has to be one that lasts", () => {
    expect(() => parseSettings({ VERCEL: "1" })).toThrow(
      /^DATABASE_URL: is required on Vercel, where the embedded store would be lost with each process$/,
    );
  });

  it("the scheduler's secret has no line break that a form left there, and is no short one", () => {
    expect(parseSettings({ CRON_SECRET: "0123456789abcdef\n" }).cronSecret).toBe("0123456789abcdef");
    expect(parseSettings({ CRON_SECRET: "" }).cronSecret).toBeUndefined();
    for (const CRON_SECRET of [
      "0123456789abcde",
      "0123456789 abcdef",
      "0123456789abcdef\nx",
      "0123456789abcdé0",
    ])
      expect(() => parseSettings({ CRON_SECRET })).toThrow(
        /^CRON_SECRET: must be 16 characters of ASCII or more, without blanks$/,
      );
  });
});

describe(".env.example", () => {
  const lines = readFileSync(".env.example", "utf8").split("\n");
  const names = lines.flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);

  it("contains exactly the settings, each with a comment above it", () => {
    const settings = new Set(settingNames);
    // The platform sets these two; one is another name of a listed setting, one a name that is refused.
    for (const notOurs of ["NODE_ENV", "VERCEL", "NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY", "CONNECT_CLIENT_HOSTS"])
      settings.delete(notOurs);
    expect([...names].sort()).toEqual([...settings].sort());
    for (const name of names) {
      const at = lines.findIndex((line) => line.startsWith(`${name}=`));
      const above = lines.slice(0, at).findLast((line) => !/^[A-Z_]+=/.test(line));
      expect(above, name).toMatch(/^# /);
    }
  });

  it("has no name that is taken for a slip, and each is known with one", () => {
    for (const name of names.filter((name) => name.length > 5)) {
      expect(parseSettings({ [`${name}X`]: "1" }).warnings, name).toContain(
        `${name}X is not a setting: ${name} is, and is not set`,
      );
    }
  });

  it("has the defaults as its values", () => {
    const values = lines
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => line.split("=", 2) as [string, string]);
    expect(parseSettings(Object.fromEntries(values))).toEqual(parseSettings({}));
  });
});

describe("a start with invalid settings", () => {
  /** The log of a failed start, with one problem. */
  const faultOf = (words: string) =>
    new RegExp(`^The service ended with 1: {"level":"fatal","time":\\d+,"msg":"${words}"}\n$`);

  it("logs one entry per problem and exits with a non-zero code", async () => {
    const started = Service.start({ PORT: "0", LOG_LEVEL: "loud" });
    await expect(started).rejects.toThrow(
      /"msg":"PORT: must be a whole number from 1 to 65535"}\n{.*"msg":"LOG_LEVEL: must be debug, info, warn or error"}\n$/,
    );
  });

  it("reports an unusable data folder", async () => {
    await expect(Service.start({ DATA_DIR: "/dev/null/data" })).rejects.toThrow(
      faultOf("DATA_DIR: /dev/null/data cannot be used \\(ENOTDIR\\)"),
    );
  });

  it.each(["not.a.host", "192.0.2.1"])("reports HOST, and not PORT, for %s", async (HOST) => {
    await expect(Service.start({ HOST })).rejects.toThrow(
      faultOf(`HOST: cannot listen on ${HOST} \\(E[A-Z_]+\\)`),
    );
  });

  it("reports a port that is in use", async () => {
    const service = await unconfigured();
    const { code, stderr } = await service.execute();
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toEqual({
      level: "fatal",
      time: expect.any(Number),
      msg: `PORT: cannot listen on ${service.port} (EADDRINUSE)`,
    });
  });
});
