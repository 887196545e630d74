export const renewEveryMs = 45_000; // 45 seconds; a session token is valid for 60

export const home = () => document.querySelector<HTMLElement>(".home");

/** Renews the session, unless Clerk does, and returns whether it continues. An ended one opens the page of sign-in. */
export async function renewSession(): Promise<boolean> {
  const { renewsAt, whenOver = "" } = home()?.dataset ?? {};
  if (renewsAt === undefined) return true;
  const answer = await fetch(renewsAt, { method: "POST" }).catch(() => undefined);
  if (answer?.status === 401) location.assign(whenOver);
  return answer?.ok ?? false;
}
