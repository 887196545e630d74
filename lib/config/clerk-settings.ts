import { createPublicKey, hash, type KeyObject } from "node:crypto";
import type { Environment } from "@/lib/config/env-files";
import { isForDevelopment } from "@/lib/config/loopback";
import { readDer } from "@/lib/config/pem-key";

/** The settings that sign-in by Clerk needs. */
export type ClerkSettings = NonNullable<ReturnType<typeof parseClerk>>;

/** What is set all together or not at all. */
export const neededNames = [
  "CLERK_PUBLISHABLE_KEY",
  "CLERK_SECRET_KEY",
  "CLERK_JWT_KEY",
  "CLERK_WEBHOOK_SIGNING_SECRET",
] as const;

export const clerkNames = [
  ...neededNames,
  "CLERK_AUTHORIZED_PARTIES",
  "CLERK_API_URL",
  "NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY",
];

/** Parses Clerk's settings and adds one line per problem to `faults`; no line contains a secret. */
export function parseClerk(env: Environment, appUrl: string, faults: string[]) {
  const given: Environment = { CLERK_PUBLISHABLE_KEY: env.NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY, ...env };
  const [publishableKey, secretKey, jwtKey, webhookSecret] = neededNames.map((name) => given[name]);
  const missing = neededNames.filter((name) => !given[name]);
  if (missing.length === neededNames.length) return undefined;
  if (!publishableKey || !secretKey || !jwtKey || !webhookSecret) {
    faults.push(`${missing.join(", ")}: missing, while other Clerk keys are set`);
    return undefined;
  }
  const frontendHost = parsePublishableKey(publishableKey);
  if (!frontendHost)
    faults.push("CLERK_PUBLISHABLE_KEY: is not a Clerk publishable key (pk_live_… or pk_test_…)");
  if (!/^sk_(live|test)_\w+$/.test(secretKey))
    faults.push("CLERK_SECRET_KEY: is not a Clerk secret key (sk_live_… or sk_test_…)");
  else if (frontendHost && secretKey.slice(3, 8) !== publishableKey.slice(3, 8))
    faults.push("CLERK_SECRET_KEY: belongs to another instance than CLERK_PUBLISHABLE_KEY (live or test)");
  const publicKey = parseJwtKey(jwtKey);
  if (!publicKey) faults.push("CLERK_JWT_KEY: is not an RSA-2048 public key in PEM form");
  const [, webhookKey] = /^whsec_([A-Za-z0-9+/]{16,}={0,2})$/.exec(webhookSecret) ?? [];
  if (!webhookKey) faults.push("CLERK_WEBHOOK_SIGNING_SECRET: is not a signing secret (whsec_…)");
  const authorizedParties = env.CLERK_AUTHORIZED_PARTIES?.split(",").map((party) => party.trim()) ?? [appUrl];
  if (authorizedParties.some((party) => !URL.canParse(party) || new URL(party).origin !== party)) {
    faults.push("CLERK_AUTHORIZED_PARTIES: must be origins separated by commas");
  }
  if (!frontendHost || !publicKey || !webhookKey) return undefined;
  return {
    publishableKey,
    secretKey,
    webhookKey: Buffer.from(webhookKey, "base64"),
    publicKey,
    /** The `iss` of its tokens, which is the address of its Frontend API. */
    issuer: `https://${frontendHost}`,
    authorizedParties,
    /**
     * Its session cookies: each instance has one of its own besides, because sites that share a host or a domain overwrite
     * or hide each other's `__session`.
     */
    sessionCookies: [`__session_${hash("sha1", publishableKey, "base64url").slice(0, 8)}`, "__session"],
    /** The address of the Backend API; undefined means Clerk's own. */
    apiUrl: env.CLERK_API_URL,
  };
}

/** Warns of a test key in production: Clerk's test instances are limited, and open to anyone with a test code. */
export function warnOfTestKeys({ publishableKey }: ClerkSettings, appUrl: string): string[] {
  if (isForDevelopment(new URL(appUrl).hostname) || publishableKey.startsWith("pk_live_")) return [];
  return [
    `CLERK_PUBLISHABLE_KEY: belongs to a test instance, while APP_URL is ${appUrl}: use a live instance`,
  ];
}

/** Decodes the Frontend API host: the key is `pk_live_` or `pk_test_`, then the base64 of the host and a `$`. */
function parsePublishableKey(key: string): string | undefined {
  const encoded = /^pk_(?:live|test)_([A-Za-z0-9+/=_-]+)$/.exec(key)?.[1] ?? "";
  return /^([a-z0-9.-]+)\$$/.exec(Buffer.from(encoded, "base64").toString())?.[1];
}

/** Clerk signs with RSA-2048, e = 65537. */
function parseJwtKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: readDer(text), format: "der", type: "spki" });
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === "rsa" && modulusLength === 2048 && publicExponent === 65_537n
      ? key
      : undefined;
  } catch {
    return undefined;
  }
}
