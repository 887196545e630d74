import { readTypedCode } from "@/lib/http/typed-code";

/** Submits the code's form once when the code is complete. Pasted text is reduced to its digits. */
export function sendWholeCode(): void {
  const field = document.querySelector<HTMLInputElement>("#code");
  if (!field) return;
  sendOnce(field.form);
  const figures = Number(field.dataset.figures); // NaN for a code that also has letters: it is not submitted automatically
  const sendIfWhole = () => {
    const typed = readTypedCode(field.value).replace(/\D/g, "");
    if (typed.length !== figures) return;
    field.value = typed;
    field.form?.requestSubmit();
  };
  // What an input method is still composing is not typed yet.
  field.addEventListener("input", (event) => (event as InputEvent).isComposing || sendIfWhole());
  field.addEventListener("compositionend", sendIfWhole);
}

/** Submits once: the first submit uses the code up. A reader who goes back can submit again. */
function sendOnce(form: HTMLFormElement | null): void {
  let isSent = false;
  form?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener("pageshow", () => {
    isSent = false;
  });
}
