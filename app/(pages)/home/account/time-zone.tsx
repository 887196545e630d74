import { nameOfTime, timeZones } from "@/lib/config/time-zone";
import { forms } from "@/lib/http/register/forms";
import { ownerPages } from "@/lib/http/register/pages";
import { PostForm } from "../../post-form";
import type { OwnVisit } from "../owner-page";

/** The time zone of mails, and of pages without a script. */
export function TimeZone({
  account: { id, time_zone },
  query,
  nowMs,
}: Pick<OwnVisit, "account" | "query" | "nowMs">) {
  if (query.zone === undefined)
    return (
      <p className="quiet" id="time-zone">
        {time_zone === null
          ? "Times are in UTC until you choose a zone."
          : `Times are in ${describe(time_zone, nowMs)}.`}{" "}
        <a href={`${ownerPages.account.path}?zone#time-zone`}>Change time zone</a>
      </p>
    );
  return (
    <PostForm id="time-zone" action={forms.chooseTimeZone.path} hidden={{ account: id }} className="stack">
      <label htmlFor="zone">Time zone</label>
      <select id="zone" name="zone" defaultValue={time_zone ?? "UTC"}>
        {timeZones().map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </select>
      <button type="submit">Save</button>
    </PostForm>
  );
}

/** For example `Central European Standard Time (Europe/Berlin)`. */
const describe = (zone: string, nowMs: number) => `${nameOfTime(zone, nowMs)} (${zone.replaceAll("_", " ")})`;
