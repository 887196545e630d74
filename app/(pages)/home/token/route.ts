import { identifyCaller } from "@/lib/accounts/caller";
import { ApiError } from "@/lib/api/errors";
import { refusal } from "@/lib/api/headers";
import { actions } from "@/lib/api/pages";
import type { Visit } from "@/lib/api/visit";
import { hall } from "@/lib/pages/hall";
import { log } from "@/lib/process/log";
import { type MintedToken, mintProgramToken } from "@/lib/session/local-session";
import type { Session } from "@/lib/session/session-token";
import { settings } from "@/lib/settings/settings";
import { mintTokenAtClerk } from "@/lib/sign-in/clerk";

/** Mints the token that the owner gives to a program: `{token, expiresAt}`, over when the session is. */
export const POST = hall(
  actions.mintToken,
  async ({ headers, visit, nowMs }) => {
    const caller = await identifyCaller(headers, visit);
    if (caller.is === "signed-out") throw new ApiError("signed_out");
    if (caller.is === "unreadable" || caller.is === "unconfigured") throw new ApiError("forbidden");
    if (caller.is !== "account") throw new ApiError("unavailable");
    const { token, expiresAtMs } = await mint(caller.session, visit, nowMs);
    return { status: 200, body: { token, expiresAt: new Date(expiresAtMs).toISOString() } };
  },
  { say: (error) => refusal(error) },
);

async function mint(session: Session, { requestId }: Visit, nowMs: number): Promise<MintedToken> {
  if (settings().signIn.kind !== "clerk") return mintProgramToken(session, nowMs);
  try {
    return await mintTokenAtClerk(session.sessionId);
  } catch (failure) {
    log().error({ err: failure, requestId }, "a token could not be minted");
    throw new ApiError("unavailable");
  }
}
