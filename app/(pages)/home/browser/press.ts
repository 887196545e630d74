/** Handles presses of buttons with this attribute, also of later ones. `say` says next to the button how it went. */
export function onPress(
  attribute: string,
  handle: (button: HTMLButtonElement, say: (words: string) => void) => Promise<void>,
): void {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element && target.closest<HTMLButtonElement>(`button[${attribute}]`);
    if (!button) return;
    const status = button.parentElement?.querySelector("[role=status]");
    void handle(button, (words) => {
      if (status) status.textContent = words;
    });
  });
}
