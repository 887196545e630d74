import { type Owner, requireOwner } from "@/lib/accounts/owner";
import { isRecentlyConfirmed } from "@/lib/auth/browser-session";
import {
  CeremonyError,
  creationOptions,
  readRegistration,
  verifyRegistration,
} from "@/lib/auth/passkey-ceremony";
import { challengeBrowser, expectedOf, refuseCeremonyErrors } from "@/lib/auth/passkey-sign-in";
import { addPasskey, listPasskeys, maxPasskeys, relyingParty } from "@/lib/auth/passkeys";
import { describeBrowser } from "@/lib/auth/session-name";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";

/** Adding a passkey counts for the account that the page showed. */
const purposeOf = ({ account }: Owner) => `add to ${account.id}`;

/**
 * The options to add a passkey to the owner's account. Throws an {@link ApiError}: 403 without a recent confirmation,
 * 409 for another account than the page showed or if the account has ten.
 */
export async function startPasskey(call: HandlerRequest, shownAccountId: string) {
  const owner = await requireConfirmedOwner(call, shownAccountId);
  const { id, email } = owner.account;
  const passkeys = await listPasskeys(await store(), id);
  if (passkeys.length >= maxPasskeys) throw hasTooMany();
  const { challenge, cookie } = challengeBrowser(call, purposeOf(owner));
  const ids = passkeys.map(({ credentialId }) => credentialId);
  return { options: creationOptions(relyingParty(), challenge, { id, name: email }, ids), cookie };
}

/** Adds the passkey that the owner's browser has created. Throws an {@link ApiError}. */
export async function finishPasskey(call: HandlerRequest): Promise<void> {
  const owner = await requireConfirmedOwner(call);
  await refuseCeremonyErrors(async () => {
    const party = relyingParty();
    const registration = readRegistration(party, call.body, expectedOf(call, purposeOf(owner)));
    const credential = await verifyRegistration(party, registration);
    const passkey = { credential, challenge: registration.challenge, name: describeBrowser(call.headers) };
    const outcome = await addPasskey(await store(), owner.account, passkey, call.nowMs);
    if (outcome === "full") throw hasTooMany();
    if (outcome !== "added") throw new CeremonyError(`the passkey or its challenge is ${outcome}`);
  });
}

/** The owner, if they have proved in the last five minutes in this browser who they are. Throws an {@link ApiError}. */
async function requireConfirmedOwner(call: HandlerRequest, shownAccountId?: string): Promise<Owner> {
  const owner = await requireOwner(call, shownAccountId);
  if (isRecentlyConfirmed(owner.session?.confirmedAtMs, call.nowMs)) return owner;
  throw new ApiError("forbidden", {
    message: "Confirm first that it is you: it was more than five minutes ago.",
    hint: "Use a passkey or a new code in this browser, then try again.",
  });
}

function hasTooMany(): ApiError {
  return new ApiError("forbidden", {
    status: 409,
    message: `This account has ${maxPasskeys} passkeys already.`,
    hint: "Remove one that you no longer use.",
  });
}
