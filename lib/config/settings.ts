import { resolve } from "node:path";
import * as z from "zod";
import { apps } from "@/lib/config/apps";
import { billingNames, parseBilling } from "@/lib/config/billing-settings";
import {
  type ClerkSettings,
  clerkNames,
  neededNames,
  parseClerk,
  warnOfTestKeys,
} from "@/lib/config/clerk-settings";
import { clientDocuments } from "@/lib/config/client-documents";
import { parseCased } from "@/lib/config/email-address";
import type { Environment } from "@/lib/config/env-files";
import { quotas } from "@/lib/config/limits";
import { isLoopback } from "@/lib/config/loopback";
import { mailNames, parseMail } from "@/lib/config/mail-settings";
import { findMisspelt } from "@/lib/config/misspelt";
import { networks } from "@/lib/config/networks";
import { warnOfFewFiles } from "@/lib/config/open-files";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { parseRedisAddress } from "@/lib/config/redis-address";
import { readVariable } from "@/lib/config/setting-files";
import { parseTracing, tracingNames, warnOfGrpcPort } from "@/lib/config/tracing-settings";
import { perProcess } from "@/lib/per-process";

export type Settings = ReturnType<typeof parseSettings>;

/** The settings of purchases at Stripe. */
export type BillingSettings = NonNullable<Settings["billing"]>;

/** How people sign in, and the settings to verify their session tokens. */
export type SignIn = { kind: "none" } | { kind: "local" } | ({ kind: "clerk" } & ClerkSettings);

/** The settings are invalid. `message` has one readable line per problem and contains no secret. */
export class SettingsError extends Error {
  constructor(faults: string[]) {
    super(faults.join("\n"));
  }
}

/** The settings of this process, parsed once. Throws a {@link SettingsError}. */
export const settings = perProcess("settings", (): Settings => parseSettings(process.env));

/** Parses an environment; an empty value counts as unset. Throws a {@link SettingsError}. */
export function parseSettings(environment: Environment) {
  const given = readGiven(environment);
  const env = parseEach(given);
  const faults: string[] = [];
  const production = env.NODE_ENV === "production";
  const appUrl = env.APP_URL ?? `http://localhost:${env.PORT}`;
  const clerk = parseClerk(given, appUrl, faults);
  const mail = parseMail(given, appUrl, faults);
  const billing = parseBilling(given, faults);
  const tracing = parseTracing(given, faults);
  const signIn = env.SIGN_IN ?? (clerk ? "clerk" : production ? "none" : "local");
  if (signIn === "clerk" && !clerk && faults.length === 0) {
    faults.push(`SIGN_IN: is clerk, which needs ${neededNames.join(", ")}`);
  }
  const isPublic = signIn === "clerk" || mail.kind !== "files" || billing !== undefined;
  faults.push(...findConflicts(given, env, isPublic));
  if (faults.length > 0) throw new SettingsError(faults);

  return {
    /** Probable mistakes, logged at startup and reported by `check`. */
    warnings: [
      ...(signIn === "clerk" && clerk ? warnOfTestKeys(clerk, appUrl) : []),
      ...warnOfFewFiles(),
      ...(tracing ? warnOfGrpcPort(tracing.environment) : []),
      ...findMisspelt(
        [...Object.keys(environment).filter((name) => environment[name]?.trim()), ...Object.keys(given)],
        [...settingNames, "BACKUP_PASSPHRASE"],
      ),
    ],
    production,
    appUrl,
    /** The host that passkeys belong to, if it is not that of `APP_URL`. */
    passkeyHost: env.PASSKEY_HOST,
    /** The `Strict-Transport-Security` header (RFC 6797), for a year; only when APP_URL is https. */
    hsts: appUrl.startsWith("https:")
      ? `max-age=31536000${env.HSTS_INCLUDE_SUBDOMAINS === "true" ? "; includeSubDomains" : ""}`
      : undefined,
    appSecret: env.APP_SECRET,
    previousAppSecret: env.APP_SECRET_PREVIOUS,
    /** What the scheduler of a platform sends; undefined if none may call. */
    cronSecret: env.CRON_SECRET,
    dataDir: resolve(env.DATA_DIR),
    retentionDays: env.RETENTION_DAYS,
    databaseUrl: env.DATABASE_URL,
    /** The file that has it, if one does: a rotation of the password writes it anew. */
    databaseUrlFile: env.DATABASE_URL && environment.DATABASE_URL_FILE?.trim(),
    databaseDirectUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    databasePool: env.DATABASE_POOL,
    upstash:
      env.UPSTASH_REDIS_REST_URL && env.UPSTASH_REDIS_REST_TOKEN
        ? { url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN }
        : undefined,
    redis: env.REDIS_URL,
    signIn: (signIn === "clerk" && clerk ? { kind: signIn, ...clerk } : { kind: signIn }) as SignIn,
    mail,
    /** Undefined if nothing can be bought here. */
    billing: billing && {
      ...billing,
      /** The plan of an account on a trial after its licence. */
      lapsedPlan: env.LAPSED_PLAN,
      /** How many assistants an account may hire on the hobby plan after its licence, unless its trial had a limit. */
      lapsedLimit: env.LAPSED_ASSISTANT_LIMIT,
      refunds: env.REFUNDS,
      /** How long a licence goes on after the end of what was paid, while Stripe still tries to collect. */
      graceDays: env.LICENCE_GRACE_DAYS,
      hasTax: env.STRIPE_TAX === "automatic",
      hasPromotionCodes: env.STRIPE_PROMOTION_CODES === "on",
    },
    supportEmail: env.SUPPORT_EMAIL,
    operatorName: env.OPERATOR_NAME,
    operatorAddress: env.OPERATOR_ADDRESS,
    creditUse: env.CREDIT_USE,
    /** Where the source of this software is; the pages call it open source only then. */
    sourceUrl: env.SOURCE_URL,
    /** The apps to connect that the operator names; none if the pages name the usual agents. */
    apps: env.APPS,
    privacyUrl: env.PRIVACY_URL,
    termsUrl: env.TERMS_URL,
    connectClients: env.CONNECT_CLIENTS,
    openAiChallenge: env.OPENAI_APPS_CHALLENGE,
    connectRegistration: env.CONNECT_REGISTRATION === "on",
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    proxyKeepAliveSeconds: env.PROXY_KEEP_ALIVE_SECONDS,
    onVercel: env.VERCEL === "1",
    /** APP_URL is https, which we do not speak, but no proxy is configured: so the peer is an unknown proxy. */
    isBehindUnknownProxy: appUrl.startsWith("https:") && env.TRUSTED_PROXY_HOPS === 0 && env.VERCEL !== "1",
    /** Networks of hosted agents, whose owners share its addresses. */
    hostedAgentNetworks: env.HOSTED_AGENT_NETWORKS,
    /** Private networks to which webhooks may be sent. */
    webhookNetworks: env.WEBHOOK_NETWORKS,
    requestsPerMinute: { health: env.RATE_LIMIT_HEALTH, mcp: env.RATE_LIMIT_MCP },
    port: env.PORT,
    host: env.HOST,
    /** How long a stopping instance keeps answering, so that a load balancer can notice. */
    drainSeconds: env.DRAIN_SECONDS ?? (production ? 5 : 0),
    metricsPort: env.METRICS_PORT,
    metricsHost: env.METRICS_HOST ?? "127.0.0.1",
    /** The domain in which the monitoring names this machine, if that is one of the public DNS. */
    metricsDomain: env.METRICS_DOMAIN,
    /** The operators' office: where it listens, and the address in a browser. Undefined if it is off. */
    office: siteAt(env.OFFICE_PORT, env.OFFICE_HOST, env.OFFICE_URL),
    /** The backend API: where it listens, and its address, which assertions name. Undefined if it is off. */
    backend: siteAt(env.BACKEND_PORT, env.BACKEND_HOST, env.BACKEND_URL),
    tracing,
    logLevel: env.LOG_LEVEL,
    logFormat: env.LOG_FORMAT ?? (production ? "json" : "text"),
  };
}

/** The variables that are set, also by a file that holds the value. */
function readGiven(environment: Environment): Environment {
  const faults: string[] = [];
  const given = settingNames.flatMap((name) => {
    const value = readVariable(environment, name, faults);
    return value === undefined || isServiceLink(name, value) ? [] : [[name, value]];
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.fromEntries(given);
}

/** Each variable by itself. */
function parseEach(given: Environment): ParsedEnvironment {
  const parsed = environmentSchema.safeParse(given, { jitless: true });
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    parsed.error.issues.map(({ path, message }) => {
      const name = path.join(".");
      return `${name}: ${message}${/\s#/.test(given[name] ?? "") ? commentsStay : ""}`;
    }),
  );
}

/**
 * What variables say that cannot be so together: a line a fault.
 *
 * @param isPublic - whether others come to its address: people who sign in at Clerk, who get mail, or who buy
 */
function findConflicts(given: Environment, env: ParsedEnvironment, isPublic: boolean): string[] {
  const faults: string[] = [];
  if (!env.UPSTASH_REDIS_REST_URL !== !env.UPSTASH_REDIS_REST_TOKEN) {
    faults.push("UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: set both or neither");
  }
  if (env.REDIS_URL && env.UPSTASH_REDIS_REST_URL) {
    faults.push("REDIS_URL, UPSTASH_REDIS_REST_URL: set one, not both");
  }
  if ((env.DATABASE_URL || isPublic) && !env.APP_URL) {
    faults.push("APP_URL: is required with DATABASE_URL, with Clerk, with Stripe and to send mail");
  }
  if (env.DATABASE_DIRECT_URL && !env.DATABASE_URL) {
    faults.push("DATABASE_DIRECT_URL: needs DATABASE_URL");
  }
  if ((env.DATABASE_URL || env.UPSTASH_REDIS_REST_URL || env.REDIS_URL) && !env.APP_SECRET) {
    faults.push(
      "APP_SECRET: is required with DATABASE_URL, Upstash or REDIS_URL, because every instance must derive the same keys",
    );
  }
  if (env.VERCEL === "1" && !env.DATABASE_URL) {
    faults.push(
      "DATABASE_URL: is required on Vercel, where the embedded store would be lost with each process",
    );
  }
  if ((env.OFFICE_URL || env.OFFICE_HOST) && !env.OFFICE_PORT) {
    faults.push("OFFICE_HOST, OFFICE_URL: need OFFICE_PORT");
  }
  if ((env.BACKEND_URL || env.BACKEND_HOST) && !env.BACKEND_PORT) {
    faults.push("BACKEND_HOST, BACKEND_URL: need BACKEND_PORT");
  }
  if (given.CONNECT_CLIENT_HOSTS) {
    faults.push(
      "CONNECT_CLIENT_HOSTS: is now CONNECT_CLIENTS, which takes the whole addresses of metadata documents; leave both out for the known agents",
    );
  }
  return faults;
}

const commentsStay =
  ". Put comments on lines of their own: systemd and docker run take them for a part of the value";

/** A site on a port of its own. */
const siteAt = (port: number | undefined, host = "127.0.0.1", url = `http://localhost:${port}`) =>
  port === undefined ? undefined : { port, host, url };

/** Kubernetes gives every pod the address of a service named `backend` as BACKEND_PORT, in a form that no port of ours has. */
const isServiceLink = (name: string, value: string) =>
  name.endsWith("_PORT") && /^(?:tcp|udp):\/\//.test(value);

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .trim()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must be a whole number from ${min} to ${max}`);

const inWords = new Intl.ListFormat("en-GB", { type: "disjunction" });

const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z
    .string()
    .toLowerCase()
    .pipe(z.enum(words, { error: `must be ${inWords.format(words)}` }));

const hostName = (example: string) =>
  z.string().regex(/^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/, `must be a host name like ${example}`);

const secret = z.string().min(32, "must be 32 characters or more");

const postgresUrl = z
  .string()
  .refine(
    (text) => parsePostgresAddress(text) !== undefined,
    "must be an address like postgres://user:password@db.example.com:5432/office or, with a standby, postgres://user:password@a:5432,b:5432/office?target_session_attrs=read-write",
  );

/** The settings that stand alone. Those of Clerk, of mail and of billing that need each other are parsed as groups. */
const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),
  VERCEL: z.string().optional(),
  APP_URL: z.string().transform(parseOrigin).optional(),
  PASSKEY_HOST: hostName("office.example.com").optional(),
  HSTS_INCLUDE_SUBDOMAINS: oneOf("true", "false").default("false"),
  APP_SECRET: secret.optional(),
  APP_SECRET_PREVIOUS: secret.optional(),
  CRON_SECRET: z
    .string()
    .trim()
    .regex(/^[!-~]{16,}$/, "must be 16 characters of ASCII or more, without blanks")
    .optional(),
  DATA_DIR: z.string().default(".data"),
  RETENTION_DAYS: wholeNumber(30, 36_500).default(730), // 2 years
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  DATABASE_POOL: wholeNumber(1, 1000).default(10),
  UPSTASH_REDIS_REST_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  UPSTASH_REDIS_REST_TOKEN: z.string().optional(),
  REDIS_URL: z
    .string()
    .transform(parseRedisAddress)
    .refine(
      (address) => address !== undefined,
      "must be an address like rediss://user:password@redis.example.com:6379, redis+sentinel://a:26379,b:26379/0?master=name or redis+cluster://a:6379,b:6379",
    )
    .optional(),
  SIGN_IN: oneOf("clerk", "local", "none").optional(),
  CLERK_API_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  SUPPORT_EMAIL: z
    .string()
    .transform((text) => (/[?#%]/.test(text) ? undefined : parseCased(text))) // those would end it in a mailto link
    .refine((email) => email !== undefined, "must be an email address")
    .optional(),
  OPERATOR_NAME: z.string().trim().optional(),
  OPERATOR_ADDRESS: z.string().trim().optional(),
  CREDIT_USE: z.string().trim().max(300, "must be at most 300 characters").optional(),
  SOURCE_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  APPS: apps.optional(),
  PRIVACY_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  TERMS_URL: z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(),
  CONNECT_CLIENTS: clientDocuments,
  OPENAI_APPS_CHALLENGE: z
    .string()
    .regex(/^[!-~]{1,200}$/, "must be the token from OpenAI alone")
    .optional(),
  CONNECT_REGISTRATION: oneOf("on", "off").default("on"),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 10).default(0),
  PROXY_KEEP_ALIVE_SECONDS: wholeNumber(1, 86_400).default(4200),
  HOSTED_AGENT_NETWORKS: networks.optional(),
  WEBHOOK_NETWORKS: networks.optional(),
  RATE_LIMIT_HEALTH: wholeNumber(1, 100_000_000).default(quotas.health.requests),
  RATE_LIMIT_MCP: wholeNumber(1, 100_000_000).default(quotas.mcp.requests),
  PORT: wholeNumber(1, 65_535).default(3000),
  HOST: z.string().optional(),
  DRAIN_SECONDS: wholeNumber(0, 300).optional(),
  METRICS_PORT: wholeNumber(1, 65_535).optional(),
  METRICS_HOST: z.string().optional(),
  METRICS_DOMAIN: hostName("prod.example.com").optional(),
  OFFICE_PORT: wholeNumber(1, 65_535).optional(),
  OFFICE_HOST: z.string().optional(),
  OFFICE_URL: z.string().transform(parseOrigin).optional(),
  BACKEND_PORT: wholeNumber(1, 65_535).optional(),
  BACKEND_HOST: z.string().optional(),
  BACKEND_URL: z.string().transform(parseOrigin).optional(),
  // A name that many services share, which Python's write like this.
  LOG_LEVEL: z
    .string()
    .transform((level) => level.replace(/^warning$/i, "warn"))
    .pipe(oneOf("debug", "info", "warn", "error"))
    .default("info"),
  LOG_FORMAT: oneOf("json", "iso", "google", "text").optional(),
  LAPSED_PLAN: oneOf("trial-ended", "hobby").default("trial-ended"),
  LAPSED_ASSISTANT_LIMIT: wholeNumber(0, 1_000_000).default(3),
  REFUNDS: z.string().trim().min(1).default("We refund nothing."),
  LICENCE_GRACE_DAYS: wholeNumber(0, 999).default(14),
  STRIPE_TAX: oneOf("none", "automatic").default("none"),
  STRIPE_PROMOTION_CODES: oneOf("off", "on").default("off"),
});

type ParsedEnvironment = z.output<typeof environmentSchema>;

/** Every setting; `CONNECT_CLIENT_HOSTS` is refused. */
export const settingNames = [
  ...new Set([
    ...Object.keys(environmentSchema.shape),
    ...clerkNames,
    ...mailNames,
    ...billingNames,
    ...tracingNames,
    "CONNECT_CLIENT_HOSTS",
  ]),
];

function parseOrigin(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  if (!url || !/^https?:$/.test(url.protocol))
    return refuse("must be an address like https://office.example.com");
  if (/[^\w.:[\]-]/.test(url.host))
    return refuse("must have a name as its host: nothing is put in place of a $ here");
  if (url.href !== `${url.origin}/`) return refuse("must be an origin only: no path, query or credentials");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return refuse("must be https unless it is a loopback address");
  }
  return url.origin;
}
