import { canUsePasskeys, createPasskey, explain, signWithPasskey } from "../../browser/passkey";
import { bringUpToDate } from "./keep-current";
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
    if (await bringUpToDate()) await signalAccepted();
  });
}

/**
 * Tells the browser which passkeys the account has, so that it offers no others (WebAuthn §5.1.10). Password managers delete
 * the others, so a page from before one was added must not say it.
 */
async function signalAccepted(): Promise<void> {
  const { accepted } = document.querySelector<HTMLElement>("[data-accepted]")?.dataset ?? {};
  if (accepted && canUsePasskeys())
    await PublicKeyCredential.signalAllAcceptedCredentials?.(JSON.parse(accepted));
}
