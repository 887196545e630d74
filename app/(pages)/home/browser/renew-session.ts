export const renewEveryMs = 45_000; // 45 seconds; a session token is valid for 60

export const home = () => document.querySelector<HTMLElement>(".home");

/**
 * Renews the session, unless Clerk does, and returns whether it continues. After its end the page is opened again: that leads
 * to sign-in, and from there back to the page.
 */
export async function renewSession(): Promise<boolean> {
  const { renewsAt } = home()?.dataset ?? {};
  if (renewsAt === undefined) return true;
  const answer = await fetch(renewsAt, { method: "POST" }).catch(() => undefined);
  if (answer?.status === 401) location.reload();
  return answer?.ok ?? false;
}
