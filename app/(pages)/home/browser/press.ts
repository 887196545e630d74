/**
 * Handles the presses of every button with this attribute, also of those that the page shows later.
 *
 * @param handle - gets the button, and a function that says how it went
 */
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
