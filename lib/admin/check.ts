import { countWaiting } from "@/lib/accounts/joining/waitlist";
import { shellAct } from "@/lib/admin/act";
import { checkBilling } from "@/lib/admin/billing-check";
import { type CheckResult, fault, fine, warning } from "@/lib/admin/check-result";
import { checkDkim, checkDmarc, checkSpf } from "@/lib/admin/mail-domain";
import { checkKeys, checkSecrets } from "@/lib/admin/secrets-check";
import { checkOperators, checkPasskeys, checkSignIn } from "@/lib/admin/sign-in-check";
import {
  checkBackup,
  checkClock,
  checkDisk,
  checkStore,
  codeOf,
  remedyForStore,
} from "@/lib/admin/store-check";
import { knownContents } from "@/lib/config/client-documents";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { waitlistBounds } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { listWebhooks, stateOf } from "@/lib/events/webhooks";
import { findRefusing } from "@/lib/http/hook-deliveries";
import { listRetirements } from "@/lib/http/retirement";
import { readRefused } from "@/lib/mail/outbox/attempts";
import { sender } from "@/lib/mail/senders/sender";
import { fetchMetadataDocument } from "@/lib/oauth/client-metadata-document";
import { askForProxies } from "@/lib/rate-limit/proxy-chain";
import { probeCounterStore, readCounterClock } from "@/lib/rate-limit/rate-limit";
import { toPrintable } from "@/lib/runtime/printable";

const answerWithinMs = 5000; // 5 seconds, the connection included

const warnBeforeSunsetMs = 30 * dayMs;

const afterStore = "Fix the store first.";
const noStore = "";

/** A check, and what to do where it cannot be made. One that needs the store is not made while that is away. */
type Check = readonly [
  what: string,
  run: () => Promise<CheckResult>,
  remedy: string | ((failure: Error) => string),
];

/** `works` is `level` as a boolean, for programs that do not know the levels. */
type Finding = { what: string; works: boolean } & CheckResult;

/** Reports what works in this deployment. The exit code is 1 if something does not. */
export const checkAct = shellAct({
  usage: "check",
  words:
    "check the settings, the store, its disk and backup, the tools for that, the counters, mail and its domain, billing, sign-in, passkeys, operators, webhooks, providers' deliveries, the waitlist, keys and secrets, retirements, agents, and the contact",
  async runWithoutStore() {
    const findings = await findAll();
    const isFailure = findings.some(({ works }) => !works);
    return { json: findings, text: findings.map(asText).join("\n"), isFailure };
  },
});

/** A store that is away is said once. */
async function findAll(): Promise<Finding[]> {
  const findings: Finding[] = [];
  const unmade: string[] = [];
  let isStoreAway = false;
  for (const [what, run, remedy] of checks()) {
    if (isStoreAway && remedy === afterStore) {
      unmade.push(what);
      continue;
    }
    const verdict = await run().catch((failure: NodeJS.ErrnoException) => {
      isStoreAway ||= what === "store";
      const detail = failure.message.split("\n")[0] || codeOf(failure);
      return fault(detail, typeof remedy === "string" ? remedy : remedy(failure));
    });
    findings.push({ what, works: verdict.level !== "fault", ...verdict });
  }
  if (unmade.length > 0)
    findings.push({ what: "not checked", works: true, ...warning(unmade.join(", "), afterStore) });
  return findings;
}

const marks = { fine: "✓", warning: "!", fault: "✗" } as const;

function asText({ what, level, detail, remedy }: Finding): string {
  const line = `${marks[level]} ${what.padEnd(14)}  ${toPrintable(detail)}`;
  return remedy ? `${line}\n${" ".repeat(18)}→ ${toPrintable(remedy)}` : line;
}

function checks(): Check[] {
  const { mail, billing, office } = settings();
  const dns = "Check the DNS resolver of this machine, then try again.";
  const ofMailDomain: Check[] = [
    ["spf", () => checkSpf(mail), dns],
    ["dkim", () => checkDkim(mail), dns],
    ["dmarc", () => checkDmarc(mail), dns],
  ];
  const stripe = "Check STRIPE_SECRET_KEY, and that Stripe can be reached from here.";
  const all: (Check | false | undefined)[] = [
    ["settings", checkSettings, noStore],
    ["store", checkStore, remedyForStore],
    ["disk", checkDisk, "Check that DATA_DIR is a folder that this user can read."],
    ["backup", checkBackup, afterStore],
    ["counters", checkCounters, remedyForCounters],
    ["mail", checkMail, remedyForMail],
    ["mails", checkMails, afterStore],
    ...(mail.kind === "files" ? [] : ofMailDomain),
    billing && ["billing", () => checkBilling(billing), stripe],
    ["client address", checkClientAddress, noStore],
    ["sign-in", checkSignIn, afterStore],
    ["passkeys", checkPasskeys, afterStore],
    office && ["operators", checkOperators, afterStore],
    ["webhooks", checkWebhooks, afterStore],
    ["deliveries", checkDeliveries, afterStore],
    ["waitlist", checkWaitlist, afterStore],
    ["signing keys", checkKeys, afterStore],
    ["secrets", checkSecrets, afterStore],
    ["retirements", checkSunsets, noStore],
    ["agents", checkAgents, noStore],
    ["contact", checkContact, noStore],
  ];
  return all.filter((check) => check !== undefined && check !== false);
}

async function checkSettings(): Promise<CheckResult> {
  const { appUrl, warnings } = settings();
  const detail = `APP_URL is ${appUrl}`;
  return warnings.length === 0 ? fine(detail) : warning(detail, warnings.join("; "));
}

async function checkWebhooks(): Promise<CheckResult> {
  const webhooks = await listWebhooks(await store());
  const away = webhooks.filter((row) => stateOf(row) !== "works");
  if (away.length === 0)
    return fine(webhooks.length === 0 ? "there are none" : `all ${webhooks.length} work`);
  const words = away.map((row) => {
    const sinceMs = row.stopped_at_ms ?? row.failing_since_ms;
    return `${row.id} is ${stateOf(row)}${sinceMs === null ? "" : ` since ${asIso(sinceMs)}`}`;
  });
  return warning(
    words.join(", "),
    "'webhook test' says what the receiver answers, and starts one that works.",
  );
}

/** A secret that was rotated on one side alone refuses all that a provider tells us. */
async function checkDeliveries(): Promise<CheckResult> {
  const refusing = await findRefusing(await store(), Date.now());
  if (refusing.length === 0) return fine("of providers: none was refused since one was accepted");
  const remedies = new Set(refusing.map(({ remedy }) => remedy));
  return fault(refusing.map(({ what }) => what).join("; "), [...remedies].join(" "));
}

/** An agent that is told of metadata documents does not fall back to registration, so they must be readable from here. */
async function checkAgents(): Promise<CheckResult> {
  const { connectClients, connectRegistration, signIn } = settings();
  // One that is known here without being read would say nothing.
  const address = connectClients.find((document) => !knownContents(document)) ?? connectClients[0];
  if (signIn.kind === "none") return fine("none: no one can sign in");
  if (!address)
    return fine(
      connectRegistration ? "they register themselves" : "only clients of 'connect add' can connect",
    );
  const signal = AbortSignal.timeout(answerWithinMs);
  const failure = await fetchMetadataDocument(address, { redirect: "error", signal }).then(
    ({ status }) => (status === 200 ? undefined : `it answers ${status}`),
    ({ message, cause }) => cause?.message || message,
  );
  if (failure === undefined) return fine(`${address} can be read`);
  const remedy = connectRegistration
    ? "Let this machine reach the hosts of CONNECT_CLIENTS over HTTPS, or set CONNECT_CLIENTS=none, so that they register themselves."
    : "Let this machine reach the hosts of CONNECT_CLIENTS over HTTPS.";
  const lockedOut = "Cursor, Copilot and others, which send such an address, are locked out";
  return warning(`${address} cannot be read: ${failure}. If the others cannot either, ${lockedOut}`, remedy);
}

async function checkContact(): Promise<CheckResult> {
  const { supportEmail } = settings();
  if (supportEmail) return fine(`people and security.txt are told to write to ${supportEmail}`);
  return warning(
    "no address for questions, and no security.txt for those who find a vulnerability",
    "Set SUPPORT_EMAIL to an address that a person reads.",
  );
}

async function checkCounters(): Promise<CheckResult> {
  const store = await probeCounterStore(answerWithinMs);
  if (store) return checkClock(store, await readCounterClock(answerWithinMs)) ?? fine(`${store} counts`);
  const detail = "per process, not shared between instances";
  const remedy = "Before you start a second instance, set REDIS_URL or the two UPSTASH_… settings.";
  return settings().databaseUrl ? warning(detail, remedy) : fine(detail);
}

function remedyForCounters({ message }: Error): string {
  if (message.startsWith("MOVED"))
    return "It is a cluster: let REDIS_URL begin with redis+cluster:// or rediss+cluster://.";
  if (/certificate/.test(message))
    return "Name its authority in NODE_EXTRA_CA_CERTS; where there is none, as at Heroku, add ?ssl_cert_reqs=none to REDIS_URL.";
  // Amazon's ElastiCache Serverless (otovo/redis-rate-limiters#11), and Dragonfly.
  if (/not allowed from script|TIME is 0/.test(message))
    return "This store has no clock for scripts, and its counts would never end: use Redis, Valkey or Upstash.";
  if (message.startsWith("NOPERM"))
    return "Give our user what lib/server/README.md names: the keys corner-office:* and the commands of our scripts.";
  return "Check that the counter store runs, accepts our credentials and takes writes.";
}

function remedyForMail({ message }: Error): string {
  if (/STARTTLS/.test(message))
    return "Have the relay offer STARTTLS, or TLS on another port (smtps://): only one on this machine may lack both, and can pass our mails on.";
  if (/wrong version number/.test(message))
    return "Write smtp:// for a port like 587 or 25, which begins without TLS: smtps:// is for one like 465.";
  if (/certificate/i.test(message))
    return "Name the relay as its certificate does, and the authority that signed it in NODE_EXTRA_CA_CERTS.";
  if (/basic authentication|5\.7\.(30|139)\b/i.test(message))
    return "Microsoft 365 takes no password for this mailbox: have its administrator allow SMTP AUTH, or a connector that knows our address, or use another relay.";
  return "Check the mail settings, and that the mail service accepts our credentials.";
}

async function checkMail(): Promise<CheckResult> {
  const detail = await sender().check();
  const { mail, production } = settings();
  if (mail.kind !== "files" || !production) return fine(detail);
  return warning(detail, "Set RESEND_API_KEY or SMTP_URL, so that mail is delivered.");
}

/** A mail server that takes our greeting may still refuse our sender, our quota or us, which it says of a mail alone. */
async function checkMails(): Promise<CheckResult> {
  const { count, last } = await readRefused(await store());
  if (!last) return fine("none was refused that is tried again");
  return warning(
    `${count} were not accepted and are tried again; the last ${asIso(last.at_ms)}: ${last.failure}`,
    "The mail service's own log has its words. The office's page of mails, and 'emails list', say whose they are.",
  );
}

async function checkClientAddress(): Promise<CheckResult> {
  const { appUrl, trustedProxyHops, onVercel, isBehindUnknownProxy, hostedAgentNetworks } = settings();
  const agents = hostedAgentNetworks
    ? `; inside ${hostedAgentNetworks.named.join(", ")} requests to the MCP server with a valid token count for their account`
    : "";
  if (onVercel) return fine(`from the platform's own header${agents}`);
  if (trustedProxyHops > 0) {
    const found = await askForProxies(appUrl, Date.now());
    const detail = `appended by ${trustedProxyHops} trusted proxies${agents}`;
    if (typeof found === "string")
      return fine(`${detail}; ${appUrl} cannot be asked from here, so they were not counted: ${found}`);
    return found === trustedProxyHops ? fine(detail) : warning(...describeWrongHops(trustedProxyHops, found));
  }
  if (!isBehindUnknownProxy) return fine(`the address of the socket${agents}`);
  return fault(
    "a proxy forwards HTTPS requests, but TRUSTED_PROXY_HOPS is 0: all its clients share one address and one limit for forms and codes",
    "Set TRUSTED_PROXY_HOPS to the number of proxies that append to X-Forwarded-For.",
  );
}

/** What it means that a request from here met another number of proxies than is trusted, and what to do. */
function describeWrongHops(trusted: number, found: number): [detail: string, remedy: string] {
  const consequence =
    found < trusted
      ? "a client can choose the address that is counted"
      : "clients are counted together, by a proxy's address";
  return [
    `TRUSTED_PROXY_HOPS is ${trusted}, but a request from here had ${found} addresses appended to X-Forwarded-For: ${consequence}`,
    found === 0
      ? "Let the proxy append to X-Forwarded-For, as lib/server/README.md shows."
      : `Set TRUSTED_PROXY_HOPS=${found}, if clients come the same way.`,
  ];
}

async function checkWaitlist(): Promise<CheckResult> {
  const { waiting: maxWaiting, usualJoins } = waitlistBounds;
  const db = await store();
  const waiting = await countWaiting(db);
  const today = await countWaiting(db, Date.now() - dayMs);
  const detail = `${waiting} of at most ${maxWaiting} waiting, ${today} since yesterday`;
  const remedy = "See 'waitlist list': invite real people and remove the others.";
  if (waiting >= maxWaiting) return fault(`${detail}: no one else can join`, remedy);
  return today > usualJoins || waiting > 0.8 * maxWaiting ? warning(detail, remedy) : fine(detail);
}

async function checkSunsets(nowMs = Date.now()): Promise<CheckResult> {
  const retirements = listRetirements();
  const near = retirements.filter(
    ({ retirement }) => Date.parse(retirement.sunsetAt) - nowMs <= warnBeforeSunsetMs,
  );
  if (near.length === 0) return fine(`${retirements.length} announced`);
  return warning(
    near.map(({ what, retirement }) => `${what} returns 410 from ${retirement.sunsetAt}`).join("; "),
    "See corner_office_requests_total for requests to it. Remove it when there are none.",
  );
}
