import { actions } from "@/lib/http/pages";

/** A button that adds a passkey to the account. */
export function AddPasskey({ accountId }: { accountId: string }) {
  const { startPasskey, addPasskey } = actions;
  return (
    <PasskeyButton
      words="Add a passkey"
      data-options={startPasskey.path}
      data-action={addPasskey.path}
      data-adds-to={accountId}
    />
  );
}

/** A button that proves by a passkey who the owner is. */
export function ConfirmWithPasskey() {
  const { askForPasskey, signInWithPasskey } = actions;
  return (
    <PasskeyButton
      words="Use a passkey"
      data-options={askForPasskey.path}
      data-action={signInWithPasskey.path}
    />
  );
}

type PasskeyButtonProps = {
  words: string;
  "data-options": string;
  "data-action": string;
  "data-adds-to"?: string;
};

/** The page's script runs the ceremony, and shows the button where the browser has passkeys. */
function PasskeyButton({ words, ...data }: PasskeyButtonProps) {
  return (
    <div data-needs="passkeys" hidden>
      <div className="stack">
        <button type="button" className="plain" {...data}>
          {words}
        </button>
        <p role="status" className="status" data-kept="" />
      </div>
    </div>
  );
}
