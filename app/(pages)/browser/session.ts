export const renewEveryMs = 45_000; // 45 seconds, of the 60 that a session token lives

/** Addresses: where a session is renewed, and where to go once it is over. */
export type Renewal = { renewsAt: string; whenOver: string };

/** Whether the session goes on. One that is over leads to the sign-in page; an outage is tried again later. */
export async function renewSession({ renewsAt, whenOver }: Renewal): Promise<boolean> {
  const answer = await fetch(renewsAt, { method: "POST" }).catch(() => undefined);
  if (answer?.status === 401) location.assign(whenOver);
  return answer?.ok ?? false;
}
