const againAfterMs = 5000;

/** Opens a page anew that could not be shown, and whose link says so. */
export function lookAgain(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-tries-again]");
  if (link) openOnceAnswered(link.href);
}

/** Only a service that answers is gone to: where the browser shows its own error page, nothing comes back. */
export function openOnceAnswered(address: string): ReturnType<typeof setInterval> {
  const tryAgain = () =>
    fetch(address, { method: "HEAD" })
      .then(() => location.replace(address))
      .catch(() => {});
  return setInterval(tryAgain, againAfterMs);
}
