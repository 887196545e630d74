const againAfterMs = 5000;

/** Reloads a page that could not be shown, once the service responds: the browser's own error page could not. */
export function retryPage(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-tries-again]");
  if (!link) return;
  const tryAgain = () =>
    fetch(link.href, { method: "HEAD" })
      .then(() => location.replace(link.href))
      .catch(() => {});
  setInterval(tryAgain, againAfterMs);
}
