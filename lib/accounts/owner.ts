import type { Account } from "@/lib/accounts/accounts";
import { type CallerSession, identifyCaller } from "@/lib/accounts/caller";
import { readCookie } from "@/lib/api/cookies";
import { ApiError } from "@/lib/api/errors";
import type { Visit } from "@/lib/api/visit";
import { holdsSecret } from "@/lib/session/session";
import { store } from "@/lib/store/store";

/** Whose account it is, at a browser of theirs. */
export type Owner = { account: Account; session: CallerSession };

/**
 * The owner of an account, proven by a browser's own session, cookie and all. What a program was given proves
 * nothing here, however it is sent: a token must not buy its successor, nor end other sessions. Throws an
 * {@link ApiError}.
 */
export async function requireOwner({
  headers,
  visit,
  nowMs,
}: {
  headers: Headers;
  visit: Visit;
  nowMs: number;
}): Promise<Owner> {
  if (headers.has("authorization")) throw onlyInBrowser();
  const caller = await identifyCaller(headers, visit, undefined, nowMs);
  switch (caller.is) {
    case "account":
      if (await isBrowsersOwn(caller.session, headers)) return caller;
      throw onlyInBrowser();
    case "signed-out":
      throw new ApiError("signed_out");
    case "unavailable":
      throw new ApiError("unavailable");
    case "unreadable":
    case "unconfigured":
      throw new ApiError("forbidden");
  }
}

/** A browser of local sign-in holds the secret that renews its session as well, which no program is given. */
async function isBrowsersOwn(session: CallerSession, headers: Headers): Promise<boolean> {
  if (session.kind === "clerk") return true;
  const secret = readCookie(headers, "office-client");
  return secret !== undefined && holdsSecret(await store(), session.sessionId, secret);
}

function onlyInBrowser(): ApiError {
  return new ApiError("forbidden", {
    message: "Only the browser in which you signed in does this.",
    hint: "Open /home there.",
  });
}
