"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { actions, pages } from "@/lib/api/pages";

const renewEveryMs = 45_000; // 45 seconds, of the 60 that a session token lives

type KeepFreshProps = { checkAgainAfterSeconds: number; renewsSession: boolean };

/** Keeps an open page true: renews the session, and checks again when it is time, or when somebody looks. */
export function KeepFresh({ checkAgainAfterSeconds, renewsSession }: KeepFreshProps) {
  const router = useRouter();

  useEffect(() => {
    const check = async () => {
      if (!renewsSession || (await renew())) router.refresh();
    };
    const whenSeen = () => {
      if (document.visibilityState === "visible") void check();
    };
    const checking = setInterval(check, checkAgainAfterSeconds * 1000);
    const renewing = renewsSession ? setInterval(renew, renewEveryMs) : undefined;
    document.addEventListener("visibilitychange", whenSeen);
    return () => {
      clearInterval(checking);
      clearInterval(renewing);
      document.removeEventListener("visibilitychange", whenSeen);
    };
  }, [router, checkAgainAfterSeconds, renewsSession]);

  return null;
}

/** Whether the session goes on. One that is over leads to the sign-in page; an outage is tried again later. */
async function renew(): Promise<boolean> {
  const answer = await fetch(actions.renewSession.path, { method: "POST" }).catch(() => undefined);
  if (answer?.status === 401) location.assign(`${pages.signIn.path}?problem=ended`);
  return answer?.ok ?? false;
}
