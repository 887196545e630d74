import { isInstant } from "@/lib/accounts/account";
import { ApiError } from "@/lib/http/errors";
import { invalid } from "@/lib/office/account";
import { addressOf, fieldValue, type OfficeAct, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Instant, Outcome, Their } from "@/lib/office/parts";
import { bannerKinds, clearBanner, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

export const announcement: OfficePage = { path: "/announcement", name: "Banner", show };

/** The notice at the top of the site: the current one, the form, and how the typed one will look. */
async function show(call: OfficeCall) {
  const { db, nowMs, input } = call;
  const current = await findBanner(db);
  const preview = input("message");
  const typed = (name: string, kept = "") =>
    preview === undefined ? fieldValue(call, name, kept) : (input(name) ?? "");
  const message = typed("message", current?.message);
  return {
    title: "Banner",
    content: (
      <>
        <h1>Banner</h1>
        <Outcome
          call={call}
          done={{ set: "It shows within half a minute.", cleared: "It is gone within half a minute." }}
        />
        {current ? (
          <p>
            Now: the {current.kind} “<Their>{current.message}</Their>”, from{" "}
            <Instant atMs={current.startsAtMs} nowMs={nowMs} /> to{" "}
            <Instant atMs={current.endsAtMs} nowMs={nowMs} />.
          </p>
        ) : (
          <p>There is none now.</p>
        )}
        <form method="post" action={publish.path} className="stack">
          <input type="hidden" name="seen" value={toSeen(current)} />
          <label htmlFor="message">Text</label>
          <input id="message" name="message" maxLength={500} autoComplete="off" defaultValue={message} />
          <div className="filter">
            <label>
              Kind
              <select name="kind" defaultValue={typed("kind", current?.kind)}>
                {bannerKinds.map((kind) => (
                  <option key={kind} value={kind}>
                    {kind === "promo" ? "promo: on public pages" : "warning: on every page"}
                  </option>
                ))}
              </select>
            </label>
            <label>
              From (UTC)
              <input
                type="datetime-local"
                name="starts"
                defaultValue={typed("starts", toMinute(current?.startsAtMs))}
              />
            </label>
            <label>
              To (UTC)
              <input
                type="datetime-local"
                name="ends"
                defaultValue={typed("ends", toMinute(current?.endsAtMs))}
              />
            </label>
          </div>
          <div className="actions">
            <button type="submit" className="plain" formMethod="get" formAction={announcement.path}>
              See how it looks
            </button>
            <button type="submit">Publish</button>
          </div>
        </form>
        {message !== "" && <Preview message={message} />}
        {current && (
          <form method="post" action={clear.path} className="stack">
            <button type="submit" className="plain">
              Remove the banner
            </button>
          </form>
        )}
      </>
    ),
  };
}

function Preview({ message }: { message: string }) {
  return (
    <>
      <h2>How it looks</h2>
      {(["light", "dark"] as const).map((theme) => (
        <div key={theme} className={`preview ${theme}`}>
          {bannerKinds.map((kind) => (
            <aside key={kind} className="banner" data-kind={kind} aria-label={`As a ${kind}, ${theme}`}>
              <p>{message}</p>
            </aside>
          ))}
        </div>
      ))}
    </>
  );
}

const toMinute = (atMs: number | null | undefined) =>
  atMs == null ? "" : new Date(atMs).toISOString().slice(0, 16);

const toSeen = (banner: StoredBanner | undefined) => JSON.stringify(banner ?? null);

export const publish: OfficeAct = {
  path: "/announcement/publish",
  page: announcement,
  needsProof: true,
  async run({ db, nowMs, by, input }) {
    const kind = bannerKinds.find((name) => name === input("kind"));
    const message = input("message") ?? "";
    if (!kind) throw invalid("Choose a kind.");
    if (message === "" || message.length > 500 || /\p{Cc}/u.test(message)) {
      throw invalid("The text must be one line of 1 to 500 characters.");
    }
    const [startsAtMs, endsAtMs] = [parseMinute(input("starts")), parseMinute(input("ends"))];
    if (startsAtMs !== null && endsAtMs !== null && endsAtMs <= startsAtMs) {
      throw invalid("The banner would end before it starts.");
    }
    await setBanner(db, { kind, message, startsAtMs, endsAtMs }, nowMs, by, (current) => {
      if (toSeen(current) === input("seen")) return;
      throw new ApiError("forbidden", {
        status: 409,
        message: "Someone changed the banner meanwhile: the current one is shown below.",
        hint: "Your text is still in the form. Publish again if it should replace that one.",
      });
    });
    return addressOf(announcement, { done: "set" });
  },
};

function parseMinute(text: string | undefined): number | null {
  if (!text) return null;
  const atMs = Date.parse(`${text}Z`);
  if (!isInstant(atMs)) throw invalid("The times must be from 1970 to 9999.");
  return atMs;
}

export const clear: OfficeAct = {
  path: "/announcement/clear",
  page: announcement,
  needsProof: true,
  async run({ db, nowMs, by }) {
    await clearBanner(db, nowMs, by);
    return addressOf(announcement, { done: "cleared" });
  },
};
