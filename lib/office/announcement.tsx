import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { Choice, Field, parseTime, requireSeen, TimeField } from "@/lib/office/forms";
import {
  formAt,
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  requireLine,
} from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";
import { bannerKinds, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

async function show(call: OfficeCall) {
  const current = await findBanner(call.db);
  const message = call.typed("message") ?? current?.message ?? "";
  return (
    <>
      <Table
        caption="Now"
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
      <PostForm action={publish.path} hidden={{ seen: toSeen(current) }} className="stack">
        <Field call={call} name="message" label="Text" current={current?.message} maxLength={500} />
        <div className="filter">
          <Choice call={call} name="kind" label="Kind" current={current?.kind} options={kindWords} />
          <TimeField call={call} name="starts" label="From (UTC)" atMs={current?.starts_at_ms} />
          <TimeField call={call} name="ends" label="To (UTC)" atMs={current?.ends_at_ms} />
        </div>
        <div className="actions">
          <button type="submit" className="plain" formAction={preview.path}>
            See how it looks
          </button>
          <button type="submit">Publish</button>
        </div>
      </PostForm>
      {message !== "" && <Preview message={message} />}
      {current && (
        <PostButton action={clear.path} hidden={{ seen: toSeen(current) }} className="stack">
          Remove the banner
        </PostButton>
      )}
    </>
  );
}

const kindWords = { promo: "promo: on public pages", warning: "warning: on every page" };

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

function replaceBanner(call: OfficeCall, banner: StoredBanner | undefined): Promise<void> {
  const words = "Someone changed the banner meanwhile: see above which one it is now.";
  const requireSame = (current: StoredBanner | undefined) => requireSeen(call, toSeen(current), words);
  return setBanner(call.db, { banner, by: call.by, requireSame }, call.nowMs);
}

const preview: OfficeAct = {
  ...formAt("/announcement/preview"),
  name: "preview the banner",
  run: async (call) => ({ title: "Banner", content: await show(call) }),
};

const publish: OfficeAct = {
  ...formWithProof("/announcement/publish"),
  name: "publish the banner",
  done: "It shows within half a minute.",
  async run(call) {
    const { input } = call;
    const kind = bannerKinds.find((name) => name === input("kind"));
    const message = requireLine("The text", input("message"));
    if (!kind) throw invalid("Choose a kind.");
    const [starts_at_ms, ends_at_ms] = [parseTime(input("starts")), parseTime(input("ends"))];
    await replaceBanner(call, { kind, message, starts_at_ms, ends_at_ms });
  },
};

const clear: OfficeAct = {
  ...formWithProof("/announcement/clear"),
  name: "clear the banner",
  done: "It is gone within half a minute.",
  run: (call) => replaceBanner(call, undefined),
};

export const announcement: OfficePage = {
  path: "/announcement",
  name: "Banner",
  show,
  acts: [preview, publish, clear],
};
