import { createPublicKey, type KeyObject } from "node:crypto";
import { resolve } from "node:path";
import { z } from "zod";
import { quotas } from "@/lib/api/limits";
import { oncePerProcess } from "@/lib/once-per-process";

export type Settings = ReturnType<typeof parseSettings>;

/** How people sign in, and what it takes to verify their session tokens. */
export type SignIn =
  | { kind: "none" }
  | { kind: "local" }
  | { kind: "clerk"; publicKey: KeyObject; issuer: string; authorizedParties: string[] };

/** The settings cannot be used; `message` has one readable line per fault and no value of a secret. */
export class SettingsError extends Error {
  constructor(faults: string[]) {
    super(faults.join("\n"));
  }
}

/** The settings of this process, parsed once. Throws a {@link SettingsError}. */
export function settings(): Settings {
  return oncePerProcess("settings", () => parseSettings(process.env));
}

/** Parses an environment; an empty value is unset. Throws a {@link SettingsError}. */
export function parseSettings(environment: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    throw new SettingsError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  }
  const env = parsed.data;
  const faults: string[] = [];
  const production = env.NODE_ENV === "production";
  const appUrl = env.APP_URL ?? `http://localhost:${env.PORT}`;
  const clerk = parseClerk(env, appUrl, faults);
  const signIn = env.SIGN_IN ?? (clerk ? "clerk" : production ? "none" : "local");

  if (signIn === "clerk" && !clerk && faults.length === 0) {
    faults.push(`SIGN_IN: is clerk, which needs ${clerkNames.join(", ")}`);
  }
  if (!env.UPSTASH_REDIS_REST_URL !== !env.UPSTASH_REDIS_REST_TOKEN) {
    faults.push("UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: set both or neither");
  }
  if ((env.DATABASE_URL || signIn === "clerk") && !env.APP_URL) {
    faults.push("APP_URL: is required with DATABASE_URL and with Clerk");
  }
  if ((env.DATABASE_URL || env.UPSTASH_REDIS_REST_URL) && !env.APP_SECRET) {
    faults.push(
      "APP_SECRET: is required with DATABASE_URL or Upstash, because every instance must derive the same keys",
    );
  }
  if (faults.length > 0) throw new SettingsError(faults);

  return {
    production,
    appUrl,
    appSecret: env.APP_SECRET,
    previousAppSecret: env.APP_SECRET_PREVIOUS,
    dataDir: resolve(env.DATA_DIR),
    databaseUrl: env.DATABASE_URL,
    upstash:
      env.UPSTASH_REDIS_REST_URL && env.UPSTASH_REDIS_REST_TOKEN
        ? { url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN }
        : undefined,
    signIn: (signIn === "clerk" && clerk ? clerk : { kind: signIn }) as SignIn,
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    onVercel: env.VERCEL === "1",
    requestsPerMinute: { health: env.RATE_LIMIT_HEALTH, mcp: env.RATE_LIMIT_MCP },
    supportEmail: env.SUPPORT_EMAIL,
    port: env.PORT,
    host: env.HOST,
    logLevel: env.LOG_LEVEL,
  };
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .trim()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((number) => number >= least && number <= most, `must be a whole number from ${least} to ${most}`);

const secret = z.string().min(32, "must be 32 characters or more");

const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),
  VERCEL: z.string().optional(),
  APP_URL: z.string().transform(parseAppUrl).optional(),
  APP_SECRET: secret.optional(),
  APP_SECRET_PREVIOUS: secret.optional(),
  DATA_DIR: z.string().default(".data"),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/./, "must be a postgres:// address")
    .optional(),
  UPSTASH_REDIS_REST_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  UPSTASH_REDIS_REST_TOKEN: z.string().optional(),
  SIGN_IN: z.enum(["clerk", "local", "none"], { error: "must be clerk, local or none" }).optional(),
  CLERK_PUBLISHABLE_KEY: z.string().optional(),
  NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY: z.string().optional(),
  CLERK_SECRET_KEY: z.string().optional(),
  CLERK_JWT_KEY: z.string().optional(),
  CLERK_AUTHORIZED_PARTIES: z.string().optional(),
  SUPPORT_EMAIL: z.email({ error: "must be an email address" }).optional(),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 10).default(0),
  RATE_LIMIT_HEALTH: wholeNumber(1, 100_000_000).default(quotas.health.requests),
  RATE_LIMIT_MCP: wholeNumber(1, 100_000_000).default(quotas.mcp.requests),
  PORT: wholeNumber(1, 65_535).default(3000),
  HOST: z.string().optional(),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error"], { error: "must be debug, info, warn or error" })
    .default("info"),
});

function parseAppUrl(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  if (!url || !/^https?:$/.test(url.protocol))
    return refuse("must be an address like https://office.example.com");
  if (url.href !== `${url.origin}/`) return refuse("must be an origin only: no path, query or credentials");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return refuse("must be https unless it is a loopback address");
  }
  return url.origin;
}

/** Whether a host name, as a URL has it, is this machine's own: `localhost`, `127.x.x.x` or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

const clerkNames = ["CLERK_PUBLISHABLE_KEY", "CLERK_SECRET_KEY", "CLERK_JWT_KEY"] as const;

function parseClerk(
  env: z.infer<typeof environmentSchema>,
  appUrl: string,
  faults: string[],
): SignIn | undefined {
  const keys = {
    ...env,
    CLERK_PUBLISHABLE_KEY: env.CLERK_PUBLISHABLE_KEY ?? env.NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY,
  };
  const missing = clerkNames.filter((name) => !keys[name]);
  if (missing.length === clerkNames.length) return undefined;
  if (missing.length > 0) {
    faults.push(`${missing.join(", ")}: missing, while other Clerk keys are set`);
    return undefined;
  }
  const frontendHost = parsePublishableKey(keys.CLERK_PUBLISHABLE_KEY ?? "");
  if (!frontendHost)
    faults.push("CLERK_PUBLISHABLE_KEY: is not a Clerk publishable key (pk_live_… or pk_test_…)");
  const publicKey = parseJwtKey(keys.CLERK_JWT_KEY ?? "");
  if (!publicKey) faults.push("CLERK_JWT_KEY: is not an RSA-2048 public key in PEM form");
  const parties = keys.CLERK_AUTHORIZED_PARTIES?.split(",").map((party) => party.trim()) ?? [appUrl];
  if (parties.some((party) => !URL.canParse(party) || new URL(party).origin !== party)) {
    faults.push("CLERK_AUTHORIZED_PARTIES: must be origins separated by commas");
  }
  if (!frontendHost || !publicKey) return undefined;
  return { kind: "clerk", publicKey, issuer: `https://${frontendHost}`, authorizedParties: parties };
}

/** A publishable key is `pk_live_` or `pk_test_` and the base64 of the Frontend API's host and a `$`. */
function parsePublishableKey(key: string): string | undefined {
  const encoded = /^pk_(?:live|test)_([A-Za-z0-9+/=_-]+)$/.exec(key)?.[1] ?? "";
  return /^([a-z0-9.-]+)\$$/.exec(Buffer.from(encoded, "base64").toString())?.[1];
}

/** Takes PEM, PEM with literal `\n`, or its bare base64 body. Clerk signs with RSA-2048, e = 65537. */
function parseJwtKey(text: string): KeyObject | undefined {
  const body = text
    .replace(/\\n/g, "\n")
    .replace(/-----[A-Z ]+-----/g, "")
    .replace(/\s/g, "");
  try {
    const key = createPublicKey({ key: Buffer.from(body, "base64"), format: "der", type: "spki" });
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === "rsa" && modulusLength === 2048 && publicExponent === 65_537n
      ? key
      : undefined;
  } catch {
    return undefined;
  }
}
