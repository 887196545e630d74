const againAfterMs = 10_000; // 10 seconds: then it is lost, or was a download that left the page open

/**
 * Posts each form once at a time: a button that is pressed twice while the network is slow would mail two codes, or find the
 * invitation or code used that it has just used itself. A reader who goes back can send again.
 */
export function sendOnce(): void {
  const sentAtMs = new Map<EventTarget | null, number>();
  addEventListener("submit", (event) => {
    const isSent = performance.now() - (sentAtMs.get(event.target) ?? -againAfterMs) < againAfterMs;
    if (isSent) event.preventDefault();
    else sentAtMs.set(event.target, performance.now());
  });
  addEventListener("pageshow", () => sentAtMs.clear());
}
