import { findSixDigits } from "@/lib/http/typed-code";

/** Submits the form of a code of six digits once they are there, also when they are pasted with other words. */
export function sendWholeCode(): void {
  const field = document.querySelector<HTMLInputElement>("#code");
  if (field?.inputMode !== "numeric") return; // a code that also has letters
  const sendIfWhole = (text: string) => {
    const code = findSixDigits(text);
    if (!code) return false;
    field.value = code;
    field.form?.requestSubmit();
    return true;
  };
  // What an input method is still composing is not typed yet.
  field.addEventListener("input", (event) => (event as InputEvent).isComposing || sendIfWhole(field.value));
  field.addEventListener("compositionend", () => sendIfWhole(field.value));
  // Before the field joins the lines of what is pasted, and the whole to what was typed.
  field.addEventListener("paste", (event) => {
    if (sendIfWhole(event.clipboardData?.getData("text") ?? "")) event.preventDefault();
  });
}
