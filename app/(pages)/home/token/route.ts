import { requireOwner, requireThemselves } from "@/lib/accounts/owner";
import { refusal } from "@/lib/api/headers";
import { actions } from "@/lib/api/pages";
import { readFields } from "@/lib/pages/form";
import { hall } from "@/lib/pages/hall";
import { startProgramSession } from "@/lib/session/session";
import { nameCopiedToken } from "@/lib/session/session-name";
import { store } from "@/lib/store/store";

/** Starts a session for a program, and hands its owner the token: `{token, expiresAt}`. */
export const POST = hall(
  actions.mintToken,
  async (call) => {
    const { nowMs } = call;
    const owner = await requireOwner(call, readFields(call)("account"));
    await requireThemselves(owner, "token refused", nowMs);
    const { account, session, clerkSession } = owner;
    const name = nameCopiedToken(nowMs);
    const program = { by: "owner", name, madeIn: session, clerkSession } as const;
    const { token, expiresAtMs } = await startProgramSession(await store(), account, program, nowMs);
    return { status: 200, body: { token, expiresAt: new Date(expiresAtMs).toISOString() } };
  },
  { say: (error) => refusal(error) },
);
