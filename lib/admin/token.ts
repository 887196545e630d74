import { findAccount } from "@/lib/accounts/accounts";
import { shellAct } from "@/lib/admin/act";
import { programTokenSeconds } from "@/lib/auth/sessions/session";
import { startProgramSession } from "@/lib/auth/sessions/session-start";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

export const tokenAct = shellAct({
  usage: "token <email>",
  words: `print a bearer token of an account, valid for ${programTokenSeconds / 60} minutes (local sign-in only)`,
  async run({ db }, { email }: { email: string }) {
    const json = await mintTokenFor(db, email);
    return { json, text: json.token };
  },
});

/** Creates a program's token for the account with this email. Throws an {@link ApiError} if that is not possible. */
export async function mintTokenFor(db: Db, email: string): Promise<{ token: string; expiresAt: string }> {
  if (settings().signIn.kind !== "local") {
    throw new ApiError("not_configured", {
      message: "This command needs local sign-in.",
      hint: "Set SIGN_IN=local, here and for the server.",
    });
  }
  const { id, subject } = await findAccount(db, email);
  if (!subject) {
    throw new ApiError("invalid_request", {
      message: "This account has no subject yet.",
      hint: "Set one with 'account set --subject'.",
    });
  }
  return startProgramSession(db, { id, subject }, { by: "operator" }, Date.now());
}
