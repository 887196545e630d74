import { ownerHandler } from "@/lib/accounts/owner-form";
import { startProgramSession } from "@/lib/auth/session-changes";
import { describeStart, nameCopiedToken } from "@/lib/auth/session-name";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Starts a session for a program and returns its token to the owner: `{token, expiresAt}`. */
export const POST = ownerHandler(
  actions.mintToken,
  async ({ headers, nowMs }, { account, session, clerkSession }) => {
    const startedIn = describeStart(headers);
    const name = nameCopiedToken(nowMs);
    const program = { by: "owner", name, madeIn: session, startedIn, clerkSession } as const;
    const { token, expiresAtMs } = await startProgramSession(await store(), account, program, nowMs);
    return { status: 200, body: { token, expiresAt: new Date(expiresAtMs).toISOString() } };
  },
);
