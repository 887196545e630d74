import { Form, parseTime, TimeField } from "@/lib/office/forms";
import {
  addressOf,
  conflict,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  requireLine,
} from "@/lib/office/page";
import { FormResult, Instant, UntrustedText } from "@/lib/office/parts";
import { bannerKinds, clearBanner, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

async function show(call: OfficeCall) {
  const { db, nowMs, typed } = call;
  const current = await findBanner(db);
  const message = typed("message") ?? current?.message ?? "";
  return {
    title: "Banner",
    content: (
      <>
        <h1>Banner</h1>
        <FormResult
          call={call}
          done={{ set: "It shows within half a minute.", cleared: "It is gone within half a minute." }}
        />
        {current ? (
          <p>
            Now: the {current.kind} “<UntrustedText>{current.message}</UntrustedText>”
            {current.startsAtMs !== null && (
              <>
                {" "}
                from <Instant atMs={current.startsAtMs} nowMs={nowMs} />
              </>
            )}
            {current.endsAtMs === null ? (
              ", until it is removed"
            ) : (
              <>
                {" "}
                until <Instant atMs={current.endsAtMs} nowMs={nowMs} />
              </>
            )}
            .
          </p>
        ) : (
          <p>There is none now.</p>
        )}
        <Form act={publish} hidden={{ seen: toSeen(current) }} className="stack">
          <label htmlFor="message">Text</label>
          <input id="message" name="message" maxLength={500} autoComplete="off" defaultValue={message} />
          <div className="filter">
            <label>
              Kind
              <select name="kind" defaultValue={typed("kind") ?? current?.kind}>
                {bannerKinds.map((kind) => (
                  <option key={kind} value={kind}>
                    {kind === "promo" ? "promo: on public pages" : "warning: on every page"}
                  </option>
                ))}
              </select>
            </label>
            <TimeField call={call} name="starts" label="From (UTC)" atMs={current?.startsAtMs} />
            <TimeField call={call} name="ends" label="To (UTC)" atMs={current?.endsAtMs} />
          </div>
          <div className="actions">
            <button type="submit" className="plain" formAction={preview.path}>
              See how it looks
            </button>
            <button type="submit">Publish</button>
          </div>
        </Form>
        {message !== "" && <Preview message={message} />}
        {current && (
          <Form act={clear} hidden={{ seen: toSeen(current) }} className="stack">
            <button type="submit" className="plain">
              Remove the banner
            </button>
          </Form>
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
        <div key={theme} className="preview" data-theme={theme}>
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

const toSeen = (banner: StoredBanner | undefined) => JSON.stringify(banner ?? null);

const requireSeen = (seen: string | undefined) => (current: StoredBanner | undefined) => {
  if (toSeen(current) !== seen)
    throw conflict("Someone changed the banner meanwhile: see above which one it is now.");
};

const preview: OfficeAct = { path: "/announcement/preview", name: "preview the banner", run: show };

const publish: OfficeAct = {
  path: "/announcement/publish",
  name: "publish the banner",
  needsProof: true,
  async run({ db, nowMs, by, input }) {
    const kind = bannerKinds.find((name) => name === input("kind"));
    const message = requireLine("The text", input("message"));
    if (!kind) throw invalid("Choose a kind.");
    const [startsAtMs, endsAtMs] = [parseTime(input("starts")), parseTime(input("ends"))];
    await setBanner(db, { kind, message, startsAtMs, endsAtMs }, nowMs, by, requireSeen(input("seen")));
    return addressOf(announcement.path, { done: "set" });
  },
};

const clear: OfficeAct = {
  path: "/announcement/clear",
  name: "clear the banner",
  needsProof: true,
  async run({ db, nowMs, by, input }) {
    await clearBanner(db, nowMs, by, requireSeen(input("seen")));
    return addressOf(announcement.path, { done: "cleared" });
  },
};

export const announcement: OfficePage = {
  path: "/announcement",
  name: "Banner",
  show,
  acts: [preview, publish, clear],
};
