const againAfterMs = 5000;

/** Reloads a page that could not be shown; its retry link marks such a page. */
export function lookAgain(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-tries-again]");
  if (link) openOnceAnswered(link.href);
}

/** Navigates only when the service responds: the browser's own error page could not retry. */
export function openOnceAnswered(address: string): ReturnType<typeof setInterval> {
  const tryAgain = () =>
    fetch(address, { method: "HEAD" })
      .then(() => location.replace(address))
      .catch(() => {});
  return setInterval(tryAgain, againAfterMs);
}
