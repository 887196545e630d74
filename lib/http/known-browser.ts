import { randomBytes } from "node:crypto";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import { store } from "@/lib/db/store";
import type { SentHeaders } from "@/lib/http/call";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { perProcess } from "@/lib/per-process";
import type { KnownBrowser } from "@/lib/rate-limit/client";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";
import { RecentCache } from "@/lib/runtime/recent-cache";

/*
 * A browser that has signed in keeps a cookie: `<id>.<HMAC of the id>.<account>~<seconds>~<HMAC of these>.<HMAC of an
 * email>…`. The cookie does not sign in. It gives the browser a share of its own of every limit, which strangers cannot use
 * up, as long as its account exists, and of the codes of those emails.
 */

export const knownSeconds = 180 * 24 * 60 * 60; // 180 days after the last sign-in
const maxEmails = 4;
const purpose = "known-browser:v1";

const askedAgainAfterMs = 10_000; // 10 seconds
type Found = { exists: Promise<boolean>; untilMs: number };
const found = perProcess("accounts of known browsers", () => new RecentCache<Found>(10_000));

/** A browser that has signed in before to an account that exists; `undefined` for any other, or if an HMAC is wrong. */
export function findKnownBrowser(
  headers: SentHeaders,
  nowMs: number,
  exists = hasAccount,
): Promise<KnownBrowser | undefined> | undefined {
  const known = readKnown(headers);
  if (!known || nowMs / 1000 - known.atSeconds > knownSeconds) return undefined;
  const { id, account } = known;
  return exists(account).then((isThere) => (isThere ? { id, account } : undefined));
}

/** Whether the account is gone that this browser signed in to last. */
export async function isAccountGone(headers: SentHeaders): Promise<boolean> {
  const { account } = readKnown(headers) ?? {};
  return account !== undefined && !(await askForAccount(account));
}

function askForAccount(id: string): Promise<boolean> {
  return store()
    .then((db) => hasRow(accountBy(db, "id", id).select("id")))
    .catch(() => true);
}

/** Asked at most every ten seconds. While the store is away, an account is taken to exist. */
function hasAccount(id: string): Promise<boolean> {
  const known = found().get(id);
  if (known && performance.now() < known.untilMs) return known.exists;
  const exists = askForAccount(id);
  found().set(id, { exists, untilMs: performance.now() + askedAgainAfterMs });
  return exists;
}

/** Whether this browser has signed in with this email before. */
export function isKnownTo(headers: SentHeaders, email: string): boolean {
  const { id, proofs = [] } = readKnown(headers) ?? {};
  return proofs.some((proof) => isKeyedHash(proof, purpose, `${id}.${email}`));
}

/** The `Set-Cookie` of a browser that has just signed in to this account. It keeps the emails of previous ones. */
export function rememberBrowser(
  headers: SentHeaders,
  { id: account, email }: { id: string; email: string },
  nowMs: number,
): string {
  const { id, proofs } = readKnown(headers) ?? { id: randomBytes(16).toString("base64url"), proofs: [] };
  const others = proofs.filter((proof) => !isKeyedHash(proof, purpose, `${id}.${email}`));
  const emails = [keyedHash(purpose, `${id}.${email}`), ...others].slice(0, maxEmails);
  const signedIn = `${account}~${Math.floor(nowMs / 1000)}`;
  const since = `${signedIn}~${keyedHash(purpose, `${id}.${signedIn}`)}`;
  return writeCookie("office-known", [id, keyedHash(purpose, id), since, ...emails].join("."), knownSeconds);
}

type Known = { id: string; proofs: string[]; account: string; atSeconds: number };

function readKnown(headers: SentHeaders): Known | undefined {
  const [id, proof = "", since = "", ...proofs] =
    readCookie(headers, "office-known")?.split(".", 3 + maxEmails) ?? [];
  const [account = "", seconds, hash = ""] = since.split("~", 3);
  if (!id || !isKeyedHash(proof, purpose, id)) return undefined;
  if (!isKeyedHash(hash, purpose, `${id}.${account}~${seconds}`)) return undefined;
  return { id, proofs, account, atSeconds: Number(seconds) };
}
