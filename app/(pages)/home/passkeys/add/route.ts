import { finishPasskey } from "@/lib/accounts/own-passkeys";
import type { Owner } from "@/lib/accounts/owner";
import { byOwner } from "@/lib/accounts/owner-form";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";

/** The second step of adding a passkey: verifies and stores the credential that the browser has created. */
export const POST = createHandler(
  actions.addPasskey,
  async (call, owner: Owner) => {
    await finishPasskey(call, owner);
    return { status: 204, body: null };
  },
  byOwner,
);
