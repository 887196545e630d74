import { Icon, Monogram } from "../icons";
import { nameApps } from "./apps";

/** A job that waits for its owner in one of their apps, with another one below it that is cut off. It does nothing here. */
export function WaitingJob() {
  const [app = ""] = nameApps();
  return (
    <figure
      className="screen"
      role="img"
      aria-label={`An example in ${app}: a drafted reply to a customer waits, with two buttons, Send and Edit. Below it a report waits.`}
    >
      <p>In {app}: what your assistants prepared</p>
      <div inert className="card job">
        <p className="job-head">
          <Monogram name={app} />
          <strong>Reply to Ida Berg</strong>
          <span className="tag">Waits for you</span>
        </p>
        <dl className="quiet">
          <dt>From</dt>
          <dd>The inbox, before breakfast, in {app}</dd>
          <dt>Subject</dt>
          <dd>Re: Can you deliver on Thursday?</dd>
        </dl>
        <div className="draft">
          <p>Hi Ida,</p>
          <p>
            Thursday works. The twelve chairs leave us on Wednesday at noon, and the driver calls you an hour
            before. The price stays as agreed.
          </p>
          <p>Kind regards, Mara</p>
        </div>
        <div className="pair">
          <button type="button">
            <Icon name="mail" />
            Send
          </button>
          <button type="button" className="plain">
            Edit
          </button>
        </div>
      </div>
      <div inert className="card job">
        <p className="job-head">
          <Monogram name={app} />
          <strong>The report of this week</strong>
          <span className="tag">Waits for you</span>
        </p>
        <p className="quiet">Two pages, six figures, one question</p>
      </div>
    </figure>
  );
}
