"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { actions } from "@/lib/http/pages";
import { canUsePasskeys, createPasskey, Refused, signWithPasskey } from "../browser/passkey";

const using = { options: actions.askForPasskey.path, action: actions.signInWithPasskey.path };
const adding = { options: actions.startPasskey.path, action: actions.addPasskey.path };

/** A button that adds a passkey to the account. */
export function AddPasskey({ accountId }: { accountId: string }) {
  return (
    <PasskeyButton
      words="Add a passkey"
      done="Passkey added."
      run={() => createPasskey(adding, { account: accountId })}
    />
  );
}

/** A button that proves by a passkey who the owner is. */
export function ConfirmWithPasskey() {
  return <PasskeyButton words="Use a passkey" done="Thank you." run={() => signWithPasskey(using)} />;
}

type PasskeyButtonProps = { words: string; done: string; run: () => Promise<unknown> };

/** Runs a ceremony and shows the page as it is then; renders nothing where the browser has no passkeys. */
function PasskeyButton({ words, done, run }: PasskeyButtonProps) {
  const router = useRouter();
  const [isOffered, setOffered] = useState(false);
  const [said, setSaid] = useState("");
  useEffect(() => setOffered(canUsePasskeys()), []);
  if (!isOffered) return null;

  async function press() {
    setSaid("Follow your browser’s instructions…");
    setSaid(await run().then(() => done, explain));
    router.refresh();
  }

  return (
    <div className="stack">
      <button type="button" className="plain" onClick={press}>
        {words}
      </button>
      <p role="status" className="status">
        {said}
      </p>
    </div>
  );
}

function explain(failure: unknown): string {
  if ((failure as Error).name === "InvalidStateError") return "This device has a passkey for you already.";
  if (!(failure instanceof Refused)) return "That did not work, and nothing was changed. Try again.";
  if (failure.status === 401) return "You are signed out. Sign in again.";
  if (failure.status === 403) return "Confirm first that it is you, then try again.";
  if (failure.status === 409) return "That passkey is of another account, or you have too many.";
  return "We could not accept that. Try again in a moment.";
}
