"use client";

import { useState } from "react";
import { actions } from "@/lib/http/pages";
import { tellMoment } from "../moment";

type Copying = { said: string; shown?: string };

/** A button that copies a short-lived token. If the browser refuses to copy, the token is shown instead. */
export function CopyToken({ accountId }: { accountId: string }) {
  const [{ said, shown }, setCopying] = useState<Copying>({ said: "" });

  async function copy() {
    setCopying({ said: "Requesting a token…" });
    setCopying(await copyNewToken(accountId));
  }

  return (
    <div className="stack">
      <button type="button" onClick={copy}>
        Copy a token
      </button>
      <noscript>
        <p>Copying a token needs JavaScript.</p>
      </noscript>
      <p role="status" className="status">
        {said}
      </p>
      {shown && (
        <textarea
          aria-label="Token"
          readOnly
          rows={4}
          value={shown}
          onFocus={(event) => event.target.select()}
        />
      )}
    </div>
  );
}

async function copyNewToken(accountId: string): Promise<Copying> {
  const body = new URLSearchParams({ account: accountId });
  const answer = await fetch(actions.mintToken.path, { method: "POST", body }).catch(() => undefined);
  if (answer?.status === 409)
    return { said: "You are now signed in to a different account. Reload this page." };
  if (answer?.status === 403)
    return { said: "You are signed in on behalf of the owner. Only the owner can copy a token." };
  if (answer?.status === 401) return { said: "You are signed out. Sign in again, then copy a token." };
  if (!answer?.ok) return { said: "We could not create a token. Try again in a moment." };
  const { token, expiresAt } = (await answer.json()) as { token: string; expiresAt: string };
  const until = tellMoment(Date.parse(expiresAt), "time");
  try {
    await navigator.clipboard.writeText(token);
    return { said: `Copied. Valid until ${until}.` };
  } catch {
    return { said: `Copy the token below. Valid until ${until}.`, shown: token };
  }
}
