/** Names the reader's time zone, in parentheses. Times of the server name theirs themselves. */
export function tellTimeZone(page: Document): void {
  for (const place of page.querySelectorAll("[data-time-zone]")) {
    place.textContent = ` (${new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`;
  }
}
