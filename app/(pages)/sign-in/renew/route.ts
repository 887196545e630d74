import { readCookie } from "@/lib/api/cookies";
import { isFromOurPages } from "@/lib/pages/origin";
import { log } from "@/lib/process/log";
import { type MintedToken, renewBrowserSession } from "@/lib/session/local-session";
import { settings } from "@/lib/settings/settings";
import { dropSession, writeSession } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/** Renews the session of an open page: 204, or 401 when it is over. */
export async function POST({ headers }: Request): Promise<Response> {
  if (settings().signIn.kind !== "local") return answer(404);
  if (!isFromOurPages(headers)) return answer(403);
  try {
    const session = await renew(headers);
    return session ? answer(204, [writeSession(session)]) : answer(401, dropSession());
  } catch (failure) {
    log().error({ err: failure }, "a session could not be renewed");
    return answer(503);
  }
}

/** Renews the session of a browser that comes back to a page, and sends it there; or to sign in. */
export async function GET({ headers }: Request): Promise<Response> {
  if (settings().signIn.kind !== "local") return answer(404);
  try {
    const session = await renew(headers);
    return session
      ? answer(303, [writeSession(session)], "/home?renewed")
      : answer(303, dropSession(), "/sign-in");
  } catch (failure) {
    log().error({ err: failure }, "a session could not be renewed");
    return answer(303, [], "/sign-in?problem=unavailable");
  }
}

async function renew(headers: Headers): Promise<MintedToken | undefined> {
  const client = readCookie(headers, "office-client");
  return client ? renewBrowserSession(await store(), client, Date.now()) : undefined;
}

function answer(status: number, cookies: string[] = [], to?: string): Response {
  const headers = new Headers({ "cache-control": "no-store" });
  if (to) headers.set("location", to);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status, headers });
}
