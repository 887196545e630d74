import { formatInstant, type Shows } from "../instant";

/** Shows the times of a page in the reader's time zone, and names it, in parentheses. */
export function tellMoments(page: Document = document): void {
  for (const moment of page.querySelectorAll<HTMLTimeElement>("time[data-shows]")) {
    moment.textContent = formatInstant(Date.parse(moment.dateTime), moment.dataset.shows as Shows);
  }
  for (const place of page.querySelectorAll("[data-time-zone]")) {
    place.textContent = ` (${new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`;
  }
}
