/** The field of a code: whole, it sends itself, once; of what is pasted, the figures count. */
export function sendWholeCode(): void {
  const field = document.querySelector<HTMLInputElement>("#code");
  if (!field) return;
  sendOnce(field.form);
  const figures = Number(field.dataset.figures); // a code of letters too is not sent by itself
  field.addEventListener("input", () => {
    const typed = field.value.replace(/\D/g, "");
    if (typed.length !== figures) return;
    field.value = typed;
    field.form?.requestSubmit();
  });
}

/** A second press would spend a code that the first has used up. Somebody who goes back finds the form as it was. */
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
