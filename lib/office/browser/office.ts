import { createPasskey, explain, signWithPasskey } from "../../../app/(pages)/browser/passkey";
import { onPress } from "../../../app/(pages)/home/browser/press";

/* The only script of the office: it runs the passkey ceremonies, and knows four keys. */

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

/*
 * Ctrl K or ⌘K goes to the search. In the rows of a table `j` and `k` go to the next row and the one before, and `/` to the
 * search: keys without a modifier act only there, as speech input would type them anywhere (WCAG 2.2, 2.1.4).
 */
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey } = event;
  const target = event.target as Element;
  const isTyping = target.matches("input:not([type=checkbox]), select, textarea");
  const row = ctrlKey || metaKey || altKey || isTyping ? null : target.closest("tbody tr");
  if (row ? key === "/" : key === "k" && ctrlKey !== metaKey) {
    const search = document.querySelector<HTMLElement>("[type=search]");
    if (search) event.preventDefault();
    search?.focus();
  } else if (row && (key === "j" || key === "k")) {
    const step = key === "j" ? "nextElementSibling" : "previousElementSibling";
    row[step]?.querySelector("a")?.focus();
  }
});
