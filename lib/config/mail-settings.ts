import { createPrivateKey } from "node:crypto";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { parseCased } from "@/lib/config/email-address";
import type { Environment } from "@/lib/config/env-files";
import { isForDevelopment, isLoopback } from "@/lib/config/loopback";
import { readDer } from "@/lib/config/pem-key";
import { decodePart } from "@/lib/config/url-part";

/** How mail is delivered, and the settings that each way needs. */
export type MailSettings = ReturnType<typeof parseMail>;

export type MailAddress = { name: string; address: string };

/** An RSA private key in PEM form, and the DNS location of its public key (RFC 6376 §3.6.2.1). */
export type DkimKey = { domainName: string; keySelector: string; privateKey: string };

const resendUrl = "https://api.resend.com";
const senderNames = ["RESEND_API_KEY", "SMTP_URL"] as const;
const dkimNames = ["DKIM_DOMAIN", "DKIM_SELECTOR", "DKIM_PRIVATE_KEY"] as const;
const needs = {
  RESEND_WEBHOOK_SECRET: "RESEND_API_KEY",
  RESEND_BASE_URL: "RESEND_API_KEY",
  SMTP_HELO: "SMTP_URL",
  DKIM_DOMAIN: "SMTP_URL",
  DKIM_SELECTOR: "SMTP_URL",
  DKIM_PRIVATE_KEY: "SMTP_URL",
};

export const mailNames = ["EMAIL_FROM", ...senderNames, ...Object.keys(needs)];

/** Parses the mail settings and adds one line per problem to `faults`; no line contains a secret. */
export function parseMail(env: Environment, appUrl: string, faults: string[]) {
  const from = parseFrom(env.EMAIL_FROM, appUrl, faults);
  for (const [name, needed] of Object.entries(needs)) {
    if (env[name] && !env[needed]) faults.push(`${name}: needs ${needed}`);
  }
  if (env.RESEND_API_KEY && env.SMTP_URL) faults.push("RESEND_API_KEY, SMTP_URL: set one, not both");
  const [given] = senderNames.filter((name) => env[name]);
  if (!given) return { kind: "files" as const, from };
  if (!env.EMAIL_FROM) faults.push(`EMAIL_FROM: is required with ${given}`);
  if (given === "RESEND_API_KEY") return { from, ...parseResend(env, appUrl, faults) };
  return { from, ...parseSmtp(env, from, appUrl, faults) };
}

function parseFrom(text: string | undefined, appUrl: string, faults: string[]): MailAddress {
  const ours = "Corner Office";
  if (!text) return { name: ours, address: `office@${new URL(appUrl).hostname}` };
  const [, name = "", address = text.trim()] = /^(.*?)\s*<([^<>]*)>$/.exec(text.trim()) ?? [];
  const parsed = parseCased(address);
  if (/\p{Cc}/u.test(text) || !parsed) {
    faults.push(
      "EMAIL_FROM: must be an address like office@example.com or Corner Office <office@example.com>",
    );
  }
  return { name: name.replace(/^"(.*)"$/, "$1") || ours, address: parsed ?? address };
}

function parseResend(env: Environment, appUrl: string, faults: string[]) {
  const apiKey = env.RESEND_API_KEY ?? "";
  if (!/^re_\w+$/.test(apiKey)) faults.push("RESEND_API_KEY: is not a key of Resend (re_…)");
  const baseUrl = (env.RESEND_BASE_URL ?? resendUrl).replace(/\/$/, "");
  const { protocol, hostname } = URL.canParse(baseUrl) ? new URL(baseUrl) : { protocol: "", hostname: "" };
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname))) {
    faults.push("RESEND_BASE_URL: must be an https address, or http on a loopback one");
  }
  requireLinksForTheWorld("RESEND_API_KEY", hostname, appUrl, faults);
  const [, secret] = /^whsec_([A-Za-z0-9+/]{16,}={0,2})$/.exec(env.RESEND_WEBHOOK_SECRET ?? "") ?? [];
  if (env.RESEND_WEBHOOK_SECRET && !secret) {
    faults.push("RESEND_WEBHOOK_SECRET: is not a signing secret (whsec_…)");
  }
  const webhookKey = secret ? Buffer.from(secret, "base64") : undefined;
  return { kind: "resend" as const, apiKey, baseUrl, webhookKey };
}

/** Nothing behind the host has an `@`, so the last `@` ends the password, which may contain others. */
const smtpForm = /^smtp(s?):\/\/(?:([^:/]+):(.+)@)?(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?\/?$/i;

function parseSmtp(env: Environment, from: MailAddress, appUrl: string, faults: string[]) {
  const [, tls, user, password, host, port] = smtpForm.exec(env.SMTP_URL?.trim() ?? "") ?? [];
  if (!host || Number(port) > 65_535) {
    faults.push("SMTP_URL: must be an address like smtps://user:password@smtp.example.com");
    return { kind: "files" as const };
  }
  requireLinksForTheWorld("SMTP_URL", host, appUrl, faults);
  // Implicit TLS. Otherwise STARTTLS, which only a loopback server may lack.
  const secure = tls === "s";
  const server = {
    name: parseHelo(env.SMTP_HELO, from, appUrl, faults),
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !isLoopback(host),
    auth: user ? { user: decodePart(user), pass: decodePart(password) } : undefined,
  };
  return { kind: "smtp" as const, server, dkim: parseDkim(env, from, faults) };
}

/**
 * The name in our EHLO (RFC 5321 §4.1.1.1). A container's own has no dot, and then nodemailer would say `[127.0.0.1]`, which
 * relays refuse.
 */
function parseHelo(
  text: string | undefined,
  from: MailAddress,
  appUrl: string,
  faults: string[],
): string | undefined {
  if (text && !/^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[a-z0-9:.]+\])$/i.test(text))
    faults.push("SMTP_HELO: must be a host name like office.example.com, or an address like [203.0.113.5]");
  const { hostname } = new URL(appUrl);
  const isPublic = hostname.includes(".") && isIP(hostname) === 0 && !isForDevelopment(hostname);
  return text ?? (isPublic ? hostname : from.address.split("@").pop());
}

/** RFC 8058 §3.1 requires https for unsubscribe links, and no other machine can open a loopback link. */
function requireLinksForTheWorld(name: string, host: string, appUrl: string, faults: string[]): void {
  if (isLoopback(host) || appUrl.startsWith("https:")) return;
  faults.push(`APP_URL: must be https with ${name}, because the links in mail go there`);
}

function parseDkim(env: Environment, from: MailAddress, faults: string[]): DkimKey | undefined {
  const { DKIM_DOMAIN = "", DKIM_SELECTOR: keySelector, DKIM_PRIVATE_KEY } = env;
  const domainName = domainToASCII(DKIM_DOMAIN);
  const missing = dkimNames.filter((name) => !env[name]);
  if (missing.length === dkimNames.length) return undefined;
  if (!DKIM_DOMAIN || !keySelector || !DKIM_PRIVATE_KEY) {
    faults.push(`${missing.join(", ")}: missing, while other DKIM settings are set`);
    return undefined;
  }
  // DMARC requires the two to align (RFC 7489 §3.1.1).
  if (!`.${from.address.split("@")[1]}`.toLowerCase().endsWith(`.${domainName}`)) {
    faults.push("DKIM_DOMAIN: must be the domain of EMAIL_FROM, or one above it");
  }
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(keySelector))
    faults.push("DKIM_SELECTOR: must be a name like mail");
  const privateKey = parsePrivateKey(DKIM_PRIVATE_KEY);
  if (!privateKey)
    faults.push("DKIM_PRIVATE_KEY: is not an RSA private key in PEM form, of 2048 bits or more");
  return privateKey ? { domainName, keySelector, privateKey } : undefined;
}

/** PKCS #8 or PKCS #1. RFC 8301 §3.2 requires 1024 bits or more, and recommends 2048. */
function parsePrivateKey(text: string): string | undefined {
  const der = readDer(text);
  for (const type of ["pkcs8", "pkcs1"] as const) {
    try {
      const key = createPrivateKey({ key: der, format: "der", type });
      const isStrong = (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
      if (key.asymmetricKeyType === "rsa" && isStrong)
        return key.export({ type: "pkcs8", format: "pem" }).toString();
    } catch {}
  }
  return undefined;
}
