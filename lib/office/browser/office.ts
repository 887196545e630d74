import { createPasskey, explain, signWithPasskey } from "../../../app/(pages)/browser/passkey";
import { onPress } from "../../../app/(pages)/home/browser/press";

/* The only script of the office: it runs the passkey ceremonies, and knows three keys. */

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

/* `/` goes to the search, `j` and `k` to the next row and the one before; within a field they are letters. */
document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || (target as Element).closest("input, select, textarea")) return;
  if (key === "/") {
    const search = document.querySelector<HTMLElement>("[type=search]");
    if (search) event.preventDefault();
    search?.focus();
  }
  if (key !== "j" && key !== "k") return;
  const rows = [...document.querySelectorAll("tbody tr")].filter((row) => row.querySelector("a"));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const to = key === "j" ? at + 1 : Math.max(0, at - 1);
  rows[to]?.querySelector("a")?.focus();
});
