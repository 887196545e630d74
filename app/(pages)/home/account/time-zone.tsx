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
  return (
    <section className="setting" id="time-zone">
      <div>
        <h2>Time zone</h2>
        <p className="quiet">Of the times in our mails. Pages show those of your browser.</p>
      </div>
      {query.zone === undefined ? (
        <div>
          <p>{time_zone === null ? "Not known yet, so mails say UTC." : describe(time_zone, nowMs)}</p>
          <p>
            <a className="button plain" href={`${ownerPages.account.path}?zone#time-zone`}>
              Change time zone
            </a>
          </p>
        </div>
      ) : (
        <PostForm action={forms.chooseTimeZone.path} hidden={{ account: id }} className="stack">
          <label htmlFor="zone">Time zone</label>
          <select id="zone" name="zone" defaultValue={time_zone ?? "UTC"}>
            {timeZones().map((zone) => (
              <option key={zone}>{zone}</option>
            ))}
          </select>
          <button type="submit">Save</button>
        </PostForm>
      )}
    </section>
  );
}

/** For example `Central European Standard Time (Europe/Berlin)`. */
const describe = (zone: string, nowMs: number) => `${nameOfTime(zone, nowMs)} (${zone.replaceAll("_", " ")})`;
