import type { Account } from "@/lib/accounts/account";
import type { Caller } from "@/lib/accounts/caller";
import { recordCheck } from "@/lib/auth/sessions/session-use";
import { challenge, hintOfProof } from "@/lib/auth/tokens/credential";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { ApiError, errorCatalogue } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import {
  type DeniedStatus,
  decideEntitlement,
  denialCodes,
  type EntitlementAllowed,
  statusOf,
} from "@/lib/plans/entitlement";
import { type AccountEnd, endWords } from "@/lib/plans/entitlement-words";
import { currentLicence, endOf } from "@/lib/plans/licence-state";
import { describeContents } from "@/lib/plans/plan";
import { readBilling } from "@/lib/plans/purchases";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/**
 * The caller's entitlement at `nowMs`, as the API returns it; what an app was told is recorded. If they may not run,
 * throws the EntitlementDenied error: an {@link ApiError} whose body has `ok`, `status` and `message` next to `error`.
 */
export async function answerEntitlement(caller: Caller, nowMs: number): Promise<EntitlementAllowed> {
  if (caller.is !== "account") throw denialOf(statusOf(caller), caller);
  const decided = decideEntitlement(caller.account, nowMs);
  if (caller.session?.kind === "app") recordCheck(caller.session.sessionId, decided.status, nowMs);
  if (decided.ok) return { ...decided, ...describeContents(caller.contents) };
  const end = await readEndInTime(caller.account);
  throw end ? denialOf("trial-ended", caller, endWords(end)) : denialOf("unavailable", caller);
}

/** What ended of an account; `undefined` if it cannot be read now. */
async function readEndInTime(account: Account): Promise<AccountEnd | undefined> {
  if (!settings().billing) return { what: "trial" };
  try {
    const { subscriptions } = await withTimeout(
      answersWithinMs.store,
      readBilling(await store(), account.id),
    );
    return endOf(account, currentLicence(subscriptions));
  } catch (failure) {
    log().error({ err: failure }, "the end of a licence could not be read");
    return undefined;
  }
}

function denialOf(status: DeniedStatus, caller: Caller, end?: ReturnType<typeof endWords>): ApiError {
  const code = denialCodes[status];
  const message = end?.message ?? errorCatalogue[code].message;
  return new ApiError(code, {
    ...(caller.is === "signed-out" && { headers: challenge(caller), hint: hintOfProof(caller) }),
    ...(end && { message, hint: end.hint(` at ${settings().appUrl}${pages.billing.path}`) }),
    extraFields: { ok: false, status, message },
  });
}
