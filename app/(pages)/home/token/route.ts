import { identifyCaller } from "@/lib/accounts/caller";
import { beginVisit } from "@/lib/api/visit";
import { isFromOurPages } from "@/lib/pages/origin";
import { log } from "@/lib/process/log";
import { mintProgramToken } from "@/lib/session/local-session";
import { settings } from "@/lib/settings/settings";
import { mintTokenAtClerk } from "@/lib/sign-in/clerk";

/** Mints the token that the owner gives to a program: `{token, expiresAt}`, over when the session is. */
export async function POST({ headers }: Request): Promise<Response> {
  const answer = (status: number, body: object | null) =>
    new Response(body && JSON.stringify(body), {
      status,
      headers: { "cache-control": "no-store", "content-type": "application/json" },
    });
  if (!isFromOurPages(headers)) return answer(403, null);
  const caller = await identifyCaller(headers, beginVisit("POST", "/home/token", headers));
  if (caller.is === "signed-out") return answer(401, null);
  if (caller.is !== "account") return answer(caller.is === "unavailable" ? 503 : 403, null);
  const { session } = caller;
  try {
    const { token, expiresAtMs } =
      settings().signIn.kind === "clerk"
        ? await mintTokenAtClerk(session.sessionId)
        : mintProgramToken(session, Date.now());
    return answer(200, { token, expiresAt: new Date(expiresAtMs).toISOString() });
  } catch (failure) {
    log().error({ err: failure }, "a token could not be minted");
    return answer(503, null);
  }
}
