import { createPasskey, Refused, signWithPasskey } from "../../../app/(pages)/browser/passkey";
import { onPress } from "../../../app/(pages)/home/browser/press";

/* The only script of the office: it runs the passkey ceremonies. */

onPress("data-passkey", async ({ dataset }, say) => {
  const { passkey, options = "", done = "", to = "/", form } = dataset;
  say("Follow your browser’s instructions…");
  try {
    const addresses = { options, action: done };
    if (passkey === "create") await createPasskey(addresses, { link: location.hash.slice(1) });
    else await signWithPasskey(addresses);
  } catch (failure) {
    return say(explain(failure));
  }
  if (form) (document.getElementById(form) as HTMLFormElement).submit();
  else location.replace(to);
});

function explain(failure: unknown): string {
  if (!(failure instanceof Refused)) return "That did not work, and nothing was changed. Try again.";
  if (failure.status === 401) return "Your session has ended. Reload this page to sign in.";
  if (failure.status === 403) return "This link was used or has expired. Ask for a new one.";
  return failure.status >= 500
    ? "The service cannot do this at the moment. Try again shortly."
    : "This passkey was not accepted. Try again, or use another one.";
}
