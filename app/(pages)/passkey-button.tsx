import { forms } from "@/lib/http/register/forms";
import { Icon } from "./icons";

type PasskeyButtonProps = {
  words: string;
  /** The id by which the script of the sign-in page finds it. The script of home finds every such button. */
  id?: string;
  /** The account that gets a passkey; without one, a passkey signs in, or proves who the owner is. */
  addsTo?: string;
  /** Whether another way to sign in stands above it. */
  isAlternative?: true;
};

/** A button that the page's script shows where the browser has passkeys. The script runs the ceremony. */
export function PasskeyButton({ words, id, addsTo, isAlternative }: PasskeyButtonProps) {
  const [options, action] = addsTo
    ? [forms.startPasskey, forms.addPasskey]
    : [forms.askForPasskey, forms.signInWithPasskey];
  return (
    <div id={id} data-needs="passkeys" hidden>
      {isAlternative && <p className="or">or</p>}
      <div className="stack">
        <button
          type="button"
          className="plain"
          data-options={options.path}
          data-action={action.path}
          data-adds-to={addsTo}
        >
          <Icon name="key" />
          {words}
        </button>
        <p role="status" className="status" data-kept="" />
      </div>
    </div>
  );
}
