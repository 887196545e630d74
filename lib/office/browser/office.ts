import { createPasskey, Refused, signWithPasskey } from "../../../app/(pages)/browser/passkey";

/* The only script of the office: it runs the passkey ceremonies. */

for (const place of document.querySelectorAll<HTMLElement>("[data-passkey]")) {
  const { passkey, options = "", done = "", to = "/", form } = place.dataset;
  const said = place.querySelector("[role=status]") as HTMLElement;
  said.textContent = "";
  const button = place.querySelector("button") as HTMLButtonElement;
  button.hidden = false;
  button.addEventListener("click", async () => {
    said.textContent = "Follow your browser’s instructions…";
    try {
      const addresses = { options, action: done };
      if (passkey === "create") await createPasskey(addresses, { link: location.hash.slice(1) });
      else await signWithPasskey(addresses);
    } catch (failure) {
      said.textContent = explain(failure);
      return;
    }
    if (form) (document.getElementById(form) as HTMLFormElement).submit();
    else location.replace(to);
  });
}

function explain(failure: unknown): string {
  if (!(failure instanceof Refused)) return "That did not work, and nothing was changed. Try again.";
  if (failure.status === 401) return "Your session has ended. Reload this page to sign in.";
  if (failure.status === 403) return "This link was used or has expired. Ask for a new one.";
  return failure.status >= 500
    ? "The service cannot do this at the moment. Try again shortly."
    : "This passkey was not accepted. Try again, or use another one.";
}
