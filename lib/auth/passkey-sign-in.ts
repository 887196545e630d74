import { requireSigningKey } from "@/lib/auth/key-ring";
import { findOwnSession, signIn, startOwnSession } from "@/lib/auth/local-sign-in";
import {
  CeremonyError,
  readAuthentication,
  requestOptions,
  toUserHandle,
  UnknownCredentialError,
  verifyAuthentication,
} from "@/lib/auth/passkey-ceremony";
import { isChallenge, makeChallenge } from "@/lib/auth/passkey-challenge";
import { findPasskey, isStored, relyingParty, usePasskey } from "@/lib/auth/passkeys";
import { mintSecret } from "@/lib/auth/secret";
import { type Db, store } from "@/lib/db/store";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { Redirect } from "@/lib/http/form";
import type { HandlerRequest } from "@/lib/http/handler";
import { log } from "@/lib/runtime/log";
import { outageSince } from "@/lib/runtime/outages";

/** How long a browser keeps the secret that binds its challenges. */
export const browserSecretSeconds = 10 * 60; // longer than a challenge lives

/** The cookie with the secret of a browser: an owner's or an operator's. */
type BrowserCookie = "office-passkey" | "operator-browser";

/** A challenge for this browser, and the `Set-Cookie` that binds it. Tabs of one browser share the cookie. */
export function challengeBrowser(
  { headers, nowMs }: Pick<HandlerRequest, "headers" | "nowMs">,
  purpose: string,
  kept: BrowserCookie = "office-passkey",
): { challenge: string; cookie: string } {
  const browser = readCookie(headers, kept) ?? mintSecret();
  return {
    challenge: makeChallenge(browser, purpose, nowMs),
    cookie: writeCookie(kept, browser, browserSecretSeconds),
  };
}

/** Returns a function that checks whether a challenge was given to this browser for this purpose, and still lives. */
export function expectedOf(
  { headers, nowMs }: Pick<HandlerRequest, "headers" | "nowMs">,
  purpose: string,
  kept: BrowserCookie = "office-passkey",
): (challenge: string) => boolean {
  const browser = readCookie(headers, kept);
  return (challenge) => browser !== undefined && isChallenge(challenge, browser, purpose, nowMs);
}

const signInPurpose = "sign in";

/** The options of a sign-in by any passkey: they are the same for everyone but for the challenge. */
export function askForPasskey(call: HandlerRequest) {
  const { challenge, cookie } = challengeBrowser(call, signInPurpose);
  return { options: requestOptions(relyingParty(), challenge), cookie };
}

/**
 * Signs a browser in by a passkey, or confirms the session of a browser that is signed in to the passkey's account.
 * Throws an {@link ApiError}: 404 if the passkey is not registered here, 400 for any other reason, which only the log
 * has; 409 if the browser is signed in to another account.
 */
export async function signInWithPasskey(call: HandlerRequest): Promise<Redirect> {
  return refuseCeremonyErrors(async () => {
    const { headers, nowMs, body } = call;
    const party = relyingParty();
    const authentication = readAuthentication(party, body, expectedOf(call, signInPurpose));
    const db = await store();
    const passkey = await findPasskey(db, authentication.credentialId);
    if (!passkey) throw await refusalOf(db, authentication.credentialId);
    const { userHandle, challenge } = authentication;
    if (userHandle !== undefined && userHandle !== toUserHandle(passkey.accountId)) {
      throw new CeremonyError("the passkey is of another account");
    }
    const { counter } = await verifyAuthentication(party, authentication, passkey.publicKey);
    await requireSigningKey(nowMs); // before anything is used up
    const current = await findOwnSession(db, headers, nowMs);
    if (current && current.accountId !== passkey.accountId) throw signedInElsewhere();
    if (!(await usePasskey(db, passkey, { challenge, counter }, nowMs))) {
      throw new CeremonyError("the passkey or its challenge was used before");
    }
    const started = await startOwnSession(db, passkey.email, "passkey", call);
    const signedIn = await signIn(db, passkey.email, started, call);
    return signedIn ?? Promise.reject(new CeremonyError("the account is gone"));
  });
}

/** Why a passkey of no account is refused. A browser that is told that one is unknown may delete it. */
async function refusalOf(db: Db, credentialId: string): Promise<CeremonyError> {
  // A store that is only read may be a copy without the newest passkeys.
  const isElsewhere = outageSince("writes") !== undefined || (await isStored(db, credentialId));
  return isElsewhere
    ? new CeremonyError("the passkey is for another use")
    : new UnknownCredentialError("the passkey is not registered here");
}

/**
 * Runs a ceremony's second step. A response that does not verify becomes a 400 for the client, or a 404 by an unknown
 * credential, and a line in the log.
 */
export async function refuseCeremonyErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    if (!(failure instanceof CeremonyError)) throw failure;
    log().info({ because: failure.message }, "a passkey was refused");
    throw new ApiError(failure instanceof UnknownCredentialError ? "not_found" : "invalid_request", {
      message: "This passkey was not accepted.",
      hint: "Try again, or sign in with a code.",
    });
  }
}

function signedInElsewhere(): ApiError {
  return new ApiError("forbidden", {
    status: 409,
    message: "This passkey is of another account than the one that you are signed in to.",
    hint: "Sign out first, or choose a passkey of this account.",
  });
}
