import { bannerActs, bannerFields } from "@/lib/admin/banner";
import { ActFold, formOf } from "@/lib/office/act-form";
import { Facts } from "@/lib/office/facts";
import { formAt, type OfficeAct, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Instant } from "@/lib/office/values";
import { findBanner, type StoredBanner } from "@/lib/site-banner";

async function show(call: OfficeCall) {
  const current = await findBanner(call.db);
  const typed = call.typed("message") || undefined;
  return (
    <>
      <p className="lead">One notice at the top of the site, for everyone.</p>
      {current ? <Now {...current} /> : <p className="quiet">There is none now.</p>}
      <div className="actions">
        <ActFold
          title={current ? "Put another in its place" : "Publish one"}
          act={set}
          call={call}
          current={bannerFields(current)}
          className="fields"
          isFirst
          isOpen={current === undefined || undefined}
        >
          {typed !== undefined && <Preview message={typed} kind={call.typed("kind")} />}
          <div className="actions">
            <button type="submit" className="plain" formAction={preview.path}>
              See how it looks
            </button>
            <button type="submit">Publish the banner</button>
          </div>
        </ActFold>
        {current && (
          <ActFold title="Remove it" act={clear} call={call} current={bannerFields(current)}>
            <button type="submit" className="danger">
              Remove the banner
            </button>
          </ActFold>
        )}
      </div>
    </>
  );
}

/** The notice that is set: where it shows and for how long, and how it looks. */
function Now({ message, kind, starts_at_ms, ends_at_ms }: StoredBanner) {
  return (
    <section className="card">
      <Facts
        facts={{
          Shows: kind === "promo" ? "On public pages" : "On every page, as a warning",
          Begins: starts_at_ms === null ? "It has begun" : <Instant atMs={starts_at_ms} />,
          Ends: ends_at_ms === null ? "When it is removed" : <Instant atMs={ends_at_ms} />,
        }}
      />
      <Looks message={message} kind={kind} />
    </section>
  );
}

function Preview(banner: LooksProps) {
  return (
    <section>
      <p>How it will look:</p>
      <Looks {...banner} />
    </section>
  );
}

type LooksProps = { message: string; kind: string | undefined };

function Looks({ message, kind }: LooksProps) {
  return (
    <div className="previews">
      {(["light", "dark"] as const).map((theme) => (
        <div key={theme} className="preview" data-theme={theme}>
          <aside className="banner" data-kind={kind} aria-label={`As a ${kind}, ${theme}`}>
            <p>{message}</p>
          </aside>
        </div>
      ))}
    </div>
  );
}

const { set, clear } = bannerActs;

const preview: OfficeAct = {
  ...formAt("/announcement/preview"),
  name: "preview the banner",
  run: async (call) => ({ title: "Banner", content: await show(call) }),
};

export const announcement: OfficePage = {
  path: "/announcement",
  name: "Banner",
  show,
  acts: [preview, formOf(set), formOf(clear)],
};
