import type { Owner } from "@/lib/accounts/owner";
import { CeremonyError, creationOptions, verifyRegistration } from "@/lib/auth/passkey-ceremony";
import { challengeBrowser, expectedOf } from "@/lib/auth/passkey-challenge";
import { addPasskey, listPasskeys, maxPasskeys, relyingParty } from "@/lib/auth/passkeys";
import { describeBrowser } from "@/lib/auth/session-name";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";

/** Adding a passkey counts for the account that the page showed. */
const purposeOf = ({ account }: Owner) => `add to ${account.id}`;

/** The options to add a passkey to the owner's account. Throws an {@link ApiError}: 409 if the account has ten. */
export async function startPasskey(call: HandlerRequest, owner: Owner) {
  const { id, email } = owner.account;
  const passkeys = await listPasskeys(await store(), id);
  if (passkeys.length >= maxPasskeys) throw hasTooMany();
  const { challenge, cookie } = challengeBrowser(call, purposeOf(owner));
  const ids = passkeys.map(({ credentialId }) => credentialId);
  return { options: creationOptions(relyingParty(), challenge, { id, name: email }, ids), cookie };
}

/** Adds the passkey that the owner's browser has created. Throws an {@link ApiError}. */
export async function finishPasskey(call: HandlerRequest, owner: Owner): Promise<void> {
  const isExpected = expectedOf(call, purposeOf(owner));
  const verified = await verifyRegistration(relyingParty(), call.body, isExpected);
  const passkey = { ...verified, name: describeBrowser(call.headers) };
  const outcome = await addPasskey(await store(), owner.account, passkey, call.nowMs);
  if (outcome === "full") throw hasTooMany();
  if (outcome !== "added") throw new CeremonyError(`the passkey or its challenge is ${outcome}`);
}

function hasTooMany(): ApiError {
  return new ApiError("forbidden", {
    status: 409,
    message: `This account has ${maxPasskeys} passkeys already.`,
    hint: "Remove one that you no longer use.",
  });
}
