/** The button that asks for another code can be pressed once a mail had time to come, and says how long that is. */
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
    if (left <= 0) clearInterval(ticking);
  }, 1000);
  tell();
}
