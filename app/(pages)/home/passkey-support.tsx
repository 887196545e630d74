"use client";

import { type ReactNode, useEffect, useState } from "react";
import { canUsePasskeys } from "../browser/passkey";

/** Shows its children in a browser whose device can hold a passkey. */
export function OnlyWithPasskeys({ children }: { children: ReactNode }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!canUsePasskeys()) return;
    void PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().then(setShown);
  }, []);
  return isShown ? children : null;
}
