import type { Route } from "@/lib/http/route";

type PasskeyButtonProps = {
  words: string;
  /** By which the script of sign-in finds it; that of home finds all. */
  id?: string;
  /** Where the ceremony's options come from, and where its result is sent. */
  options: Route;
  action: Route;
  /** The account that gets a passkey; without one, the owner proves by a passkey who they are. */
  addsTo?: string;
};

/** A button that the page's script shows where the browser has passkeys. The script runs the ceremony. */
export function PasskeyButton({ words, id, options, action, addsTo }: PasskeyButtonProps) {
  return (
    <div id={id} data-needs="passkeys" hidden>
      <div className="stack">
        <button
          type="button"
          className="plain"
          data-options={options.path}
          data-action={action.path}
          data-adds-to={addsTo}
        >
          {words}
        </button>
        <p role="status" className="status" data-kept="" />
      </div>
    </div>
  );
}
