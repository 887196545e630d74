import type { Owner } from "@/lib/accounts/require-owner";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { signIn } from "@/lib/auth/local-sign-in";
import { CeremonyError, toUserHandle } from "@/lib/auth/passkeys/passkey-ceremony";
import {
  askToCreate,
  askToSign,
  notCounted,
  readCreated,
  readSigned,
  usePasskey,
} from "@/lib/auth/passkeys/passkey-exchange";
import { addPasskey, hasTooMany, listPasskeys, maxPasskeys, ownersSite } from "@/lib/auth/passkeys/passkeys";
import { findOwnSession } from "@/lib/auth/sessions/browser-session";
import { describeBrowser } from "@/lib/auth/sessions/session-name";
import { recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { type Db, store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import type { Redirect } from "@/lib/http/form";
import type { ResponseParts } from "@/lib/http/response";
import { outageSince } from "@/lib/runtime/dependency-outages";

const signInPurpose = "sign in";

/** The options of a sign-in by any passkey. */
export function askForPasskey(call: Call): ResponseParts {
  return askToSign(call, ownersSite(), signInPurpose);
}

/**
 * Signs a browser in by a passkey, or confirms the session of a browser that is signed in to the passkey's account.
 * Throws an {@link ApiError}: 404 if the passkey is not registered here, 400 for any other reason, which only the log
 * has; 409 if the browser is signed in to another account.
 */
export async function signInWithPasskey(call: Call): Promise<Redirect> {
  const { headers, nowMs } = call;
  const db = await store();
  const signed = await readSigned(call, ownersSite(), signInPurpose, (credentialId) =>
    requirePasskey(db, credentialId),
  );
  const { passkey, userHandle } = signed;
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
  const reason = await transact(db, (transaction) => usePasskey(transaction, ownersSite(), signed, nowMs));
  const because = reason && notCounted[reason];
  if (reason === "copied") {
    const about = { by: "visitor", what: "passkey refused", whom: passkey.email } as const;
    await recordAudit(db, { ...about, after: { passkey: passkey.id, because } }, nowMs);
  }
  if (because) throw new CeremonyError(because);
  const signedIn = await transact(db, (transaction) => signIn(transaction, passkey.email, "passkey", call));
  return signedIn ?? Promise.reject(new CeremonyError("the account is gone"));
}

/** A browser that is told that a passkey is unknown may delete it. */
async function requirePasskey(db: Db, credentialId: string) {
  const passkey = await db
    .selectFrom("passkeys")
    .innerJoin("accounts", "accounts.id", "passkeys.account_id")
    .select(["passkeys.id", "credential_id", "rp_id", "public_key"])
    .select(["accounts.id as accountId", "accounts.email"])
    .where("credential_id", "=", credentialId)
    .executeTakeFirst();
  if (passkey?.rp_id === ownersSite().id) return passkey;
  const operators = db.selectFrom("operator_passkeys").select("rp_id");
  const isStored = passkey || (await hasRow(operators.where("credential_id", "=", credentialId)));
  // A store that is only read may be a copy without the newest passkeys.
  if (outageSince("writes") !== undefined || isStored)
    throw new CeremonyError("the passkey is for another use");
  throw new CeremonyError("the passkey is not registered here", "not_found");
}

/** Adding a passkey counts for the account that the page showed. */
const purposeOf = ({ account }: Owner) => `add to ${account.id}`;

/** The options to add a passkey to the owner's account. Throws an {@link ApiError}: 409 if the account has ten. */
export async function startPasskey(call: Call, owner: Owner): Promise<ResponseParts> {
  const { id, email } = owner.account;
  const passkeys = await listPasskeys(await store(), id);
  if (passkeys.length >= maxPasskeys) throw hasTooMany;
  const excludedIds = passkeys.map(({ credential_id }) => credential_id);
  return askToCreate(call, ownersSite(), purposeOf(owner), { user: { id, name: email }, excludedIds });
}

/** Adds the passkey that the owner's browser has created. Throws an {@link ApiError}. */
export async function finishPasskey(call: Call, owner: Owner): Promise<ResponseParts> {
  const created = await readCreated(call, ownersSite(), purposeOf(owner));
  const passkey = { ...created, name: describeBrowser(call.headers) };
  await addPasskey(await store(), owner.account, passkey, call.nowMs);
  return { status: 204, body: null };
}
