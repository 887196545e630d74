import { startPasskey } from "@/lib/accounts/own-passkeys";
import type { Owner } from "@/lib/accounts/owner";
import { byOwner } from "@/lib/accounts/owner-form";
import { cookieHeaders } from "@/lib/http/cookies";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";

/** The first step of adding a passkey: the options for `navigator.credentials.create`, with a challenge. */
export const POST = createHandler(
  actions.startPasskey,
  async (call, owner: Owner) => {
    const { options, cookie } = await startPasskey(call, owner);
    return { status: 200, body: options, headers: cookieHeaders([cookie]) };
  },
  byOwner,
);
