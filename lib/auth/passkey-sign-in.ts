import { requireSigningKey } from "@/lib/auth/key-ring";
import { findOwnSession, signIn } from "@/lib/auth/local-sign-in";
import {
  CeremonyError,
  requestOptions,
  toUserHandle,
  verifyAuthentication,
} from "@/lib/auth/passkey-ceremony";
import { challengeBrowser, expectedOf } from "@/lib/auth/passkey-challenge";
import { findPasskey, isStored, recordPasskeyUse, relyingParty } from "@/lib/auth/passkeys";
import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import type { Redirect } from "@/lib/http/form";
import type { HandlerRequest } from "@/lib/http/handler";
import { outageSince } from "@/lib/runtime/outages";

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
  const { headers, nowMs, body } = call;
  const db = await store();
  const { passkey, userHandle, challenge, counter } = await verifyAuthentication(
    relyingParty(),
    body,
    expectedOf(call, signInPurpose),
    (credentialId) => requirePasskey(db, credentialId),
  );
  if (userHandle !== undefined && userHandle !== toUserHandle(passkey.accountId)) {
    throw new CeremonyError("the passkey is of another account");
  }
  await requireSigningKey(nowMs); // before anything is used up
  const current = await findOwnSession(db, headers, nowMs);
  if (current && current.accountId !== passkey.accountId) {
    throw new ApiError("forbidden", {
      status: 409,
      message: "This passkey is of another account than the one that you are signed in to.",
      hint: "Sign out first, or choose a passkey of this account.",
    });
  }
  if (!(await recordPasskeyUse(db, passkey, { challenge, counter }, nowMs))) {
    throw new CeremonyError("the passkey or its challenge was used before");
  }
  const signedIn = await signIn(db, passkey.email, "passkey", call);
  return signedIn ?? Promise.reject(new CeremonyError("the account is gone"));
}

/** A browser that is told that a passkey is unknown may delete it. */
async function requirePasskey(db: Db, credentialId: string) {
  const passkey = await findPasskey(db, credentialId);
  if (passkey) return passkey;
  // A store that is only read may be a copy without the newest passkeys.
  if (outageSince("writes") !== undefined || (await isStored(db, credentialId))) {
    throw new CeremonyError("the passkey is for another use");
  }
  throw new CeremonyError("the passkey is not registered here", "not_found");
}
