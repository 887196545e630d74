"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { type Renewal, renewEveryMs, renewSession } from "../browser/session";

type KeepFreshProps = {
  checkAgainAfterSeconds: number;
  /** `undefined` under Clerk, which renews its own sessions. */
  renewal: Renewal | undefined;
};

/** Keeps an open page current: renews the session, and checks again when due or when the page becomes visible. */
export function KeepFresh({ checkAgainAfterSeconds, renewal }: KeepFreshProps) {
  const router = useRouter();

  useEffect(() => {
    const check = async () => {
      if (!renewal || (await renewSession(renewal))) router.refresh();
    };
    const whenSeen = () => {
      if (document.visibilityState === "visible") void check();
    };
    const checking = setInterval(check, checkAgainAfterSeconds * 1000);
    const renewing = renewal && setInterval(() => renewSession(renewal), renewEveryMs);
    document.addEventListener("visibilitychange", whenSeen);
    return () => {
      clearInterval(checking);
      clearInterval(renewing);
      document.removeEventListener("visibilitychange", whenSeen);
    };
  }, [router, checkAgainAfterSeconds, renewal]);

  return null;
}
