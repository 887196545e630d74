/** Disables the button that requests another code until a mail has had time to arrive, and shows the seconds left. */
export function waitToSendAgain(): void {
  const button = document.querySelector<HTMLButtonElement>("button[data-wait-seconds]");
  if (!button) return;
  const words = button.textContent;
  let left = Number(button.dataset.waitSeconds);
  const tell = () => {
    button.disabled = left > 0;
    button.textContent = left > 0 ? `${words} in ${left} s` : words;
  };
  const ticking = setInterval(() => {
    left -= 1;
    tell();
    if (!(left > 0)) clearInterval(ticking);
  }, 1000);
  tell();
}
