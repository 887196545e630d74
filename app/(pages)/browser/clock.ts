import { tellMoment } from "../moment";

/** Tells the moments of a page by the reader's own clock. */
export function tellMoments(): void {
  for (const moment of document.querySelectorAll<HTMLTimeElement>("time[data-shows]")) {
    moment.textContent = tellMoment(Date.parse(moment.dateTime), "time");
  }
}
