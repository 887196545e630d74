import { act, changesBetween, type Fields, option, shellAct } from "@/lib/admin/act";
import { parseInstant, parser, parseWords } from "@/lib/admin/arguments";
import { asLines, type Result } from "@/lib/admin/print";
import { asIso, minuteInWords, toMinute } from "@/lib/config/instants";
import { bannerKinds, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

const changed = "Someone changed the banner meanwhile: see above which one it is now.";

type Given = { kind: StoredBanner["kind"]; message: string; starts?: number; ends?: number };

export const bannerActs = {
  set: act({
    usage: "set <kind> <message>",
    words: "show a notice: a promo on the public site, a warning everywhere",
    effect: {
      does: "It takes the place of a notice that is there, and shows to those who closed that one too.",
      undo: "It can be changed or removed at any time.",
    },
    examples: ["banner set warning 'We are down for repairs at noon' --ends 2027-01-31T13:00:00Z"],
    fields: {
      message: { parse: parseWords, label: "Text", subject: "The text" },
      kind: {
        parse: parser(
          (text) => bannerKinds.find((kind) => kind === text),
          "Choose a kind: promo or warning.",
        ),
        label: "Kind",
        as: { promo: "promo: on public pages", warning: "warning: on every page" },
      },
      starts: {
        ...option("--starts <instant>", "when to start showing it", parseInstant),
        label: "From (UTC), at once if empty",
        as: "time",
      },
      ends: {
        ...option("--ends <instant>", "when to stop showing it", parseInstant),
        label: "To (UTC), until it is removed if empty",
        as: "time",
      },
    },
    form: {
      path: "/announcement/publish",
      name: "publish the banner",
      done: "It shows within half a minute, or from the time that you set.",
      audited: "banner set",
    },
    async run({ db, by, nowMs, confirm, requireSeen }, { kind, message, starts, ends }: Given) {
      const stored = { kind, message, starts_at_ms: starts ?? null, ends_at_ms: ends ?? null };
      const earlier = await findBanner(db);
      if (earlier) await confirm(`This replaces the ${earlier.kind} “${earlier.message}”.`);
      const requireSame = (now?: StoredBanner) => requireSeen(bannerFields(now), changed);
      await setBanner(db, { banner: stored, by, requireSame }, nowMs);
      return toResult(stored);
    },
    async preview({ db }, { kind, message, starts, ends }) {
      const then = { kind, message, starts_at_ms: starts ?? null, ends_at_ms: ends ?? null };
      const now = await findBanner(db);
      return { whom: readersOf[kind], changes: changesBetween(inWords(now), inWords(then)) };
    },
  }),
  clear: act({
    usage: "clear",
    words: "remove the notice",
    effect: {
      does: "It goes for everyone within half a minute.",
      undo: "It is kept nowhere: to show it again, write it again.",
    },
    form: {
      path: "/announcement/clear",
      name: "clear the banner",
      done: "It is gone within half a minute.",
    },
    async run({ db, by, nowMs, requireSeen }) {
      const requireSame = (now?: StoredBanner) => requireSeen(bannerFields(now), changed);
      await setBanner(db, { banner: undefined, by, requireSame }, nowMs);
      return toResult(undefined);
    },
    async preview({ db }) {
      const now = await findBanner(db);
      return {
        whom: readersOf[now?.kind ?? "promo"],
        changes: changesBetween(inWords(now), inWords(undefined)),
      };
    },
  }),
  show: shellAct({
    usage: "show",
    words: "show the notice that is set",
    run: async ({ db }) => toResult(await findBanner(db)),
  }),
};

const readersOf = {
  promo: "Everyone, on the public pages",
  warning: "Everyone, on every page",
} satisfies Record<StoredBanner["kind"], string>;

const inWords = (banner: StoredBanner | undefined): Fields => ({
  Text: banner ? banner.message : "none",
  ...(banner && {
    Shown: banner.kind === "promo" ? "on public pages" : "on every page, as a warning",
    From: banner.starts_at_ms === null ? "at once" : minuteInWords(banner.starts_at_ms),
    Until: banner.ends_at_ms === null ? "it is removed" : minuteInWords(banner.ends_at_ms),
  }),
});

/** The banner as the fields of its form show it. */
export const bannerFields = (banner: StoredBanner | undefined): Fields => ({
  message: banner?.message ?? "",
  kind: banner?.kind ?? "promo",
  starts: toMinute(banner?.starts_at_ms),
  ends: toMinute(banner?.ends_at_ms),
});

function toResult(stored: StoredBanner | undefined): Result {
  if (!stored) return { json: { banner: null }, text: "There is no banner." };
  const { kind, message, starts_at_ms, ends_at_ms } = stored;
  const banner = { kind, message, startsAt: asIso(starts_at_ms), endsAt: asIso(ends_at_ms) };
  return { json: { banner }, text: asLines(banner) };
}
