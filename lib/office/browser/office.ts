import { createPasskey, explain, signWithPasskey } from "../../../app/(pages)/browser/passkey";
import { onPress } from "../../../app/(pages)/home/browser/press";

/* The only script of the office: it runs the passkey ceremonies. */

onPress("data-passkey", async ({ dataset }, say) => {
  const { passkey, path, to = "/", form } = dataset;
  say("Follow your browser’s instructions…");
  try {
    const addresses = { options: `${path}/options`, action: `${path}/passkey` };
    if (passkey === "create") await createPasskey(addresses, { link: location.hash.slice(1) });
    else await signWithPasskey(addresses);
  } catch (failure) {
    return say(explain(failure));
  }
  if (form) (document.getElementById(form) as HTMLFormElement).submit();
  else location.replace(to);
});
