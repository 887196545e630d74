import { type CheckResult, fine, warning } from "@/lib/admin/check-result";
import { areCodesLonger } from "@/lib/auth/codes/sign-in-code-limits";
import { operatorsSite } from "@/lib/auth/operators";
import { countStrandedPasskeys, type PasskeySite } from "@/lib/auth/passkeys/passkey-exchange";
import { ownersSite } from "@/lib/auth/passkeys/passkeys";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";

const answerWithinMs = 5000; // 5 seconds, the connection included

/** How people sign in, and whether someone guesses at their codes. */
export async function checkSignIn(): Promise<CheckResult> {
  const { kind } = settings().signIn;
  if (kind === "none") return warning("none: no one can sign in", "Set SIGN_IN=local, or Clerk's keys.");
  if (kind !== "local" || !(await areCodesLonger(await store(), Date.now()))) return fine(kind);
  return warning(
    "local; someone is guessing at codes, so those for unknown browsers have eight characters for now",
    "No one gets in by guessing. If the log shows that the sign-ins come from one network, block it in front of the service.",
  );
}

/** Whether owners' passkeys can be used here. */
export async function checkPasskeys(): Promise<CheckResult> {
  const { signIn, passkeyHost, appUrl } = settings();
  if (signIn.kind !== "local") return fine("none: only local sign-in has them");
  const address = `https://${passkeyHost}/.well-known/webauthn`;
  if (passkeyHost && !isWithin(new URL(appUrl).hostname, passkeyHost) && !(await lists(address, appUrl))) {
    return warning(
      `browsers are not told at ${address} that ${appUrl} may use them`,
      `Have ${passkeyHost} answer there with {"origins":["${appUrl}"]}, by https and without a redirect.`,
    );
  }
  return findStranded(
    ownersSite(),
    "They cannot be used here. Set PASSKEY_HOST to their host, or let their owners sign in with a code and add new ones.",
  );
}

/** Whether a page of `host` may use the passkeys of `passkeyHost` without being listed there (WebAuthn §5.1.3). */
const isWithin = (host: string, passkeyHost: string) => `.${host}`.endsWith(`.${passkeyHost}`);

/** Whether a document of related origins lists an origin (WebAuthn §5.11). */
async function lists(address: string, origin: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(address, { redirect: "error", signal });
    const { origins } = (await answer.json()) as { origins?: unknown };
    return Array.isArray(origins) && origins.includes(origin);
  } catch {
    return false;
  }
}

/** Whether operators' passkeys can be used at the office. */
export function checkOperators(): Promise<CheckResult> {
  return findStranded(
    operatorsSite(),
    "They cannot be used here. Set the host of OFFICE_URL back, or send their owners new links by 'operator add'.",
  );
}

async function findStranded(site: PasskeySite, remedy: string): Promise<CheckResult> {
  const stranded = await countStrandedPasskeys(await store(), site);
  if (stranded.length === 0) return fine(`for ${site.id}`);
  const hosts = stranded.map(({ rp_id, count }) => `${count} for ${rp_id}`).join(", ");
  return warning(`made for another host than ${site.id}: ${hosts}`, remedy);
}
