export const renewEveryMs = 45_000; // 45 seconds; a session token is valid for 60

/** The address that renews a session, and the one to open when it has ended. */
export type Renewal = { renewsAt: string; whenOver: string };

/** Returns whether the session continues. An ended one opens the sign-in page; an outage is retried later. */
export async function renewSession({ renewsAt, whenOver }: Renewal): Promise<boolean> {
  const answer = await fetch(renewsAt, { method: "POST" }).catch(() => undefined);
  if (answer?.status === 401) location.assign(whenOver);
  return answer?.ok ?? false;
}
