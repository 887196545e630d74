import { canUsePasskeys, createPasskey, Refused, signWithPasskey } from "../../browser/passkey";
import { bringUpToDate } from "./fresh";
import { onPress } from "./press";
import { showUsable } from "./usable";

/** Shows what needs passkeys where the browser has them, and runs the ceremonies of its buttons. */
export function runPasskeys(): void {
  void showUsable(document);
  void signalAccepted();
  onPress("data-action", async (button, say) => {
    const { options = "", action = "", addsTo } = button.dataset;
    const addresses = { options, action };
    say("Follow your browser’s instructions…");
    try {
      if (addsTo === undefined) await signWithPasskey(addresses);
      else await createPasskey(addresses, { account: addsTo });
      say(addsTo === undefined ? "Thank you." : "Passkey added.");
    } catch (failure) {
      say(explain(failure));
    }
    await bringUpToDate();
    await signalAccepted();
  });
}

/** Tells the browser which passkeys the account has, so that it offers no others (WebAuthn §5.1.10). */
async function signalAccepted(): Promise<void> {
  const { accepted } = document.querySelector<HTMLElement>("[data-accepted]")?.dataset ?? {};
  if (accepted && canUsePasskeys())
    await PublicKeyCredential.signalAllAcceptedCredentials?.(JSON.parse(accepted));
}

function explain(failure: unknown): string {
  if ((failure as Error).name === "InvalidStateError") return "This device has a passkey for you already.";
  if (!(failure instanceof Refused)) return "That did not work, and nothing was changed. Try again.";
  if (failure.status === 401) return "You are signed out. Sign in again.";
  if (failure.status === 403) return "Confirm first that it is you, then try again.";
  if (failure.status === 409) return "That passkey is of another account, or you have too many.";
  return "We could not accept that. Try again in a moment.";
}
