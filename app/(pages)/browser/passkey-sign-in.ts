import { canUsePasskeys, Refused, signWithPasskey } from "./passkey";

const againAfterMs = 240_000; // 4 minutes; a challenge lives five
const maxFailures = 3;

/** Shows the button that signs in with a passkey, and offers passkeys in the email field. */
export function offerPasskey(): void {
  const place = document.querySelector<HTMLElement>("#passkey");
  const button = place?.querySelector("button");
  if (!place || !button || !canUsePasskeys()) return;
  const said = place.querySelector(".status") as HTMLElement;
  const { options = "", action = "" } = button.dataset;
  let failures = 0;
  let current = new AbortController();

  /** A browser runs one ceremony at a time, so a new one ends the one before. */
  const signIn = async (mediation: CredentialMediationRequirement) => {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    try {
      location.assign(await signWithPasskey({ options, action }, { mediation, signal }));
    } catch (failure) {
      // The offer in the field may also fail before anyone has tried; in Safari, on a page that was reloaded, by this name too.
      const isTouched = navigator.userActivation?.hasBeenActive !== false;
      const isTried =
        failure instanceof Refused || (isTouched && (failure as Error).name === "NotAllowedError");
      if (signal.aborted || (mediation === "conditional" && !isTried)) return;
      failures += 1;
      said.textContent = adviceAfter(failures);
      if (failures < maxFailures) void offerInField();
    }
  };
  const offerInField = async () => {
    if (await PublicKeyCredential.isConditionalMediationAvailable?.()) await signIn("conditional");
  };

  place.hidden = false;
  let isAsking = false;
  button.addEventListener("click", async () => {
    isAsking = true;
    said.textContent = "";
    await signIn("optional");
    isAsking = false;
  });
  // Its request for a challenge must not delay the first paint.
  new PerformanceObserver((_, observer) => {
    observer.disconnect();
    void offerInField();
  }).observe({ type: "paint", buffered: true });
  setInterval(() => isAsking || offerInField(), againAfterMs);
}

function adviceAfter(failures: number): string {
  return failures < maxFailures
    ? "That did not work. Try again, or request a code."
    : "That did not work either. Type your email above and choose “Send me a code”: a code always works. You can then add a new passkey on your access page.";
}
