import { tellMoment } from "../moment";

/** Shows the times of a page in the reader's time zone. */
export function tellMoments(): void {
  for (const moment of document.querySelectorAll<HTMLTimeElement>("time[data-shows]")) {
    moment.textContent = tellMoment(Date.parse(moment.dateTime), "time");
  }
}
