import { bannerActs, bannerFields } from "@/lib/admin/banner";
import { ActFold, ActForm, formOf } from "@/lib/office/act-form";
import { formAt, type OfficeAct, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";
import { findBanner } from "@/lib/site-banner";

async function show(call: OfficeCall) {
  const current = await findBanner(call.db);
  const message = call.typed("message") ?? current?.message ?? "";
  const kind = call.typed("kind") ?? current?.kind;
  return (
    <>
      <p className="lead">One notice at the top of the site, for everyone.</p>
      <h2>Now</h2>
      <Table
        rows={current ? [current] : []}
        columns={{
          Text: ({ message }) => <UntrustedText>{message}</UntrustedText>,
          Kind: ({ kind }) => kind,
          From: ({ starts_at_ms }) => <Instant atMs={starts_at_ms} />,
          To: ({ ends_at_ms }) =>
            ends_at_ms === null ? "until it is removed" : <Instant atMs={ends_at_ms} />,
        }}
        whenEmpty="There is none now."
      />
      {current && (
        <ActFold title="Remove it" act={clear} call={call} current={bannerFields(current)}>
          <button type="submit" className="danger">
            Remove the banner
          </button>
        </ActFold>
      )}
      <h2>{current ? "Put another in its place" : "Publish one"}</h2>
      <ActForm act={set} call={call} current={bannerFields(current)} className="fields">
        <div className="actions">
          <button type="submit" className="plain" formAction={preview.path}>
            See how it looks
          </button>
          <button type="submit">Publish the banner</button>
        </div>
      </ActForm>
      {message !== "" && <Preview message={message} kind={kind} />}
    </>
  );
}

function Preview({ message, kind }: { message: string; kind: string | undefined }) {
  return (
    <>
      <h2>How it looks</h2>
      {(["light", "dark"] as const).map((theme) => (
        <div key={theme} className="preview" data-theme={theme}>
          <aside className="banner" data-kind={kind} aria-label={`As a ${kind}, ${theme}`}>
            <p>{message}</p>
          </aside>
        </div>
      ))}
    </>
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
