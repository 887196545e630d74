import { type Shows, tellMoment } from "../moment";

/** Shows the times of a page in the reader's time zone. */
export function tellMoments(page: Document = document): void {
  for (const moment of page.querySelectorAll<HTMLTimeElement>("time[data-shows]")) {
    moment.textContent = tellMoment(Date.parse(moment.dateTime), moment.dataset.shows as Shows);
  }
}
