import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseSettings } from "@/lib/settings";
import { type Environment, Service } from "@/tests/support/service";

const secret = "s".repeat(32);
const database = {
  DATABASE_URL: "postgres://db/x",
  APP_URL: "https://office.example.com",
  APP_SECRET: secret,
};
const rsa = (modulusLength: number) =>
  generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ type: "spki", format: "pem" }).toString();
const key = rsa(2048);
const clerk = {
  APP_URL: "https://office.example.com",
  CLERK_PUBLISHABLE_KEY: `pk_test_${Buffer.from("clerk.office.example.com$").toString("base64")}`,
  CLERK_SECRET_KEY: "sk_test_x",
  CLERK_JWT_KEY: key,
};

describe("parseSettings", () => {
  it("needs nothing", () => {
    expect(parseSettings({})).toMatchObject({
      appUrl: "http://localhost:3000",
      signIn: { kind: "local" },
      requestsPerMinute: { health: 120 },
      trustedProxyHops: 0,
      port: 3000,
      logLevel: "info",
      databaseUrl: undefined,
      upstash: undefined,
    });
  });

  it("has no sign-in in production unless it is told to", () => {
    expect(parseSettings({ NODE_ENV: "production" }).signIn).toEqual({ kind: "none" });
    expect(parseSettings({ NODE_ENV: "production", SIGN_IN: "local" }).signIn).toEqual({ kind: "local" });
  });

  it("takes an empty value for none", () => {
    expect(parseSettings({ PORT: "", APP_SECRET: " ", SIGN_IN: "", TRUSTED_PROXY_HOPS: "" })).toEqual(
      parseSettings({}),
    );
  });

  it("names itself after its port where it has no address", () => {
    expect(parseSettings({ PORT: "4000" }).appUrl).toBe("http://localhost:4000");
  });

  it.each([
    "https://office.example.com",
    "https://office.example.com/",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
  ])("accepts the address %s", (APP_URL) => {
    expect(parseSettings({ APP_URL }).appUrl).toBe(APP_URL.replace(/\/$/, ""));
  });

  it("verifies with Clerk's key when its keys are set, in each form that the key comes in", () => {
    const body = key.replace(/-----[A-Z ]+-----|\n/g, "");
    for (const CLERK_JWT_KEY of [key, key.replaceAll("\n", "\\n"), body]) {
      const { signIn } = parseSettings({ ...clerk, CLERK_JWT_KEY });
      expect(signIn).toMatchObject({
        kind: "clerk",
        issuer: "https://clerk.office.example.com",
        authorizedParties: ["https://office.example.com"],
      });
    }
    expect(parseSettings({ ...clerk, SIGN_IN: "none" }).signIn).toEqual({ kind: "none" });
  });

  it("reads the publishable key under Next's name as well, and the parties from their setting", () => {
    const { CLERK_PUBLISHABLE_KEY, ...others } = clerk;
    const CLERK_AUTHORIZED_PARTIES = "https://a.example, https://b.example:8443";
    const { signIn } = parseSettings({
      ...others,
      NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY: CLERK_PUBLISHABLE_KEY,
      CLERK_AUTHORIZED_PARTIES,
    });
    expect(signIn).toMatchObject({ authorizedParties: ["https://a.example", "https://b.example:8443"] });
  });

  const address = "must be an origin only: no path, query or credentials";
  it.each<[Environment, string]>([
    [{ APP_URL: "office" }, "APP_URL: must be an address like https://office.example.com"],
    [{ APP_URL: "http://office.example.com" }, "APP_URL: must be https unless it is a loopback address"],
    [{ APP_URL: "http://localhost.example.com" }, "APP_URL: must be https unless it is a loopback address"],
    [{ APP_URL: "https://office.example.com/app" }, `APP_URL: ${address}`],
    [{ APP_URL: "https://me:pw@office.example.com" }, `APP_URL: ${address}`],
    [{ PORT: "http" }, "PORT: must be a whole number from 1 to 65535"],
    [{ PORT: "70000" }, "PORT: must be a whole number from 1 to 65535"],
    [{ TRUSTED_PROXY_HOPS: "-1" }, "TRUSTED_PROXY_HOPS: must be a whole number from 0 to 10"],
    [{ RATE_LIMIT_HEALTH: "0" }, "RATE_LIMIT_HEALTH: must be a whole number from 1 to 100000000"],
    [{ LOG_LEVEL: "loud" }, "LOG_LEVEL: must be debug, info, warn or error"],
    [{ APP_SECRET: "short" }, "APP_SECRET: must be 32 characters or more"],
    [{ SUPPORT_EMAIL: "help" }, "SUPPORT_EMAIL: must be an email address"],
    [{ SIGN_IN: "oauth" }, "SIGN_IN: must be clerk, local or none"],
    [{ ...database, APP_URL: "" }, "APP_URL: is required with DATABASE_URL and with Clerk"],
    [{ ...database, DATABASE_URL: "mysql://db/x" }, "DATABASE_URL: must be a postgres:// address"],
    [
      { ...database, APP_SECRET: "" },
      "APP_SECRET: is required with DATABASE_URL or Upstash, because every instance must derive the same keys",
    ],
    [
      { UPSTASH_REDIS_REST_URL: "https://x.upstash.io", APP_SECRET: secret },
      "UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: set both or neither",
    ],
    [
      { UPSTASH_REDIS_REST_URL: "redis://x", UPSTASH_REDIS_REST_TOKEN: "t", APP_SECRET: secret },
      "UPSTASH_REDIS_REST_URL: must be an http(s) address",
    ],
    [
      { SIGN_IN: "clerk" },
      "SIGN_IN: is clerk, which needs CLERK_PUBLISHABLE_KEY, CLERK_SECRET_KEY, CLERK_JWT_KEY",
    ],
    [{ ...clerk, CLERK_JWT_KEY: "" }, "CLERK_JWT_KEY: missing, while other Clerk keys are set"],
    [{ ...clerk, CLERK_JWT_KEY: "x" }, "CLERK_JWT_KEY: is not an RSA-2048 public key in PEM form"],
    [{ ...clerk, CLERK_JWT_KEY: rsa(4096) }, "CLERK_JWT_KEY: is not an RSA-2048 public key in PEM form"],
    [
      { ...clerk, CLERK_PUBLISHABLE_KEY: "pk_test_x" },
      "CLERK_PUBLISHABLE_KEY: is not a Clerk publishable key (pk_live_… or pk_test_…)",
    ],
    [
      { ...clerk, CLERK_AUTHORIZED_PARTIES: "office.example.com" },
      "CLERK_AUTHORIZED_PARTIES: must be origins separated by commas",
    ],
  ])("refuses %j", (environment, fault) => {
    expect(() => parseSettings(environment)).toThrow(fault);
    for (const value of [secret, "sk_test_x"]) {
      expect(() => parseSettings(environment)).not.toThrow(value);
    }
  });

  it("names every fault at once, one a line", () => {
    expect(() => parseSettings({ PORT: "x", SIGN_IN: "y", APP_URL: "z" })).toThrow(
      /^APP_URL: .*\nSIGN_IN: .*\nPORT: .*$/,
    );
  });
});

describe(".env.example", () => {
  const lines = readFileSync(".env.example", "utf8").split("\n");
  const names = lines.flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);

  it("holds every setting, each with a comment above it, and no other", () => {
    const source = readFileSync("lib/settings.ts", "utf8");
    const schema = source.slice(
      source.indexOf("const environmentSchema"),
      source.indexOf("function parseAppUrl"),
    );
    // NODE_ENV and VERCEL are the platform's, and NEXT_PUBLIC_… is another name of one that is there.
    const notOurs = ["NODE_ENV", "VERCEL", "NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY"];
    const settings = [...schema.matchAll(/^ {2}([A-Z_]+):/gm)].flatMap((match) => match[1] ?? []);
    expect([...names].sort()).toEqual(settings.filter((name) => !notOurs.includes(name)).sort());
    for (const name of names) {
      const at = lines.findIndex((line) => line.startsWith(`${name}=`));
      const above = lines.slice(0, at).findLast((line) => !/^[A-Z_]+=/.test(line));
      expect(above, name).toMatch(/^# /);
    }
  });

  it("runs as it is", () => {
    const values = lines
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => line.split("=", 2) as [string, string]);
    expect(parseSettings(Object.fromEntries(values))).toEqual(parseSettings({}));
  });
});

describe("a start with settings that cannot be used", () => {
  it("ends with one readable line a fault and a code other than zero", async () => {
    const started = Service.start({ PORT: "0", LOG_LEVEL: "loud" });
    await expect(started).rejects.toThrow(
      "The service ended with 1: PORT: must be a whole number from 1 to 65535\nLOG_LEVEL: must be debug, info, warn or error\n",
    );
  });

  it("says so when the data folder cannot be written", async () => {
    await expect(Service.start({ DATA_DIR: "/dev/null/data" })).rejects.toThrow(
      "The service ended with 1: DATA_DIR: /dev/null/data cannot be written (ENOTDIR)\n",
    );
  });

  it("says so when the port is taken", async () => {
    const service = await Service.start();
    const { code, stderr } = await service.rival();
    expect(code).toBe(1);
    expect(stderr).toBe(`PORT: cannot listen on ${service.port} (EADDRINUSE)\n`);
    await service.stop();
  });
});
