import { formatInstant } from "../../instant";
import { bringUpToDate } from "./keep-current";
import { onPress } from "./press";

/** Copies the line next to a pressed button, or a new token. What the browser does not copy can be selected. */
export function copyOnClick(): void {
  onPress("data-copies", async (button, say) => {
    const line = button.previousElementSibling?.textContent ?? "";
    const isCopied = await copy(line);
    say(isCopied ? "Copied." : "Your browser did not copy it. Select the line and copy it.");
  });
  onPress("data-mints", async (button, say) => {
    say("Requesting a token…");
    const field = button.parentElement?.querySelector("textarea");
    if (!field) return;
    field.hidden = true;
    const minted = await mint(button.dataset.mints ?? "", button.dataset.account ?? "");
    if (typeof minted === "string") return say(minted);
    const until = formatInstant(Date.parse(minted.expiresAt), "time");
    await bringUpToDate();
    if (await copy(minted.token)) return say(`Copied. Valid until ${until}.`);
    field.value = minted.token;
    field.hidden = false;
    field.onfocus = () => field.select();
    say(`Copy the token below. Valid until ${until}.`);
  });
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A token that lives for an hour, or why there is none. */
async function mint(at: string, account: string): Promise<{ token: string; expiresAt: string } | string> {
  const body = new URLSearchParams({ account });
  const answer = await fetch(at, { method: "POST", body }).catch(() => undefined);
  if (answer?.ok) return answer.json();
  const refusal = await answer?.json().catch(() => undefined);
  return refusal?.error.message ?? "We could not create a token. Try again in a moment.";
}
