import { Argument } from "commander";
import { parseInstant, parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, type Result } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import { bannerKinds, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

/** `banner set|clear|show`. */
export function addBannerCommands(program: AdminCommand): void {
  const banner = program.command("banner").description("the notice at the top of the site");

  banner
    .add(
      "set",
      "show a notice: a promo on the public site, a warning everywhere",
      "banner set warning 'We are down for repairs at noon' --ends 2027-01-31T13:00:00Z",
    )
    .addArgument(new Argument("<kind>").choices(bannerKinds))
    .argument("<message>", "", parseWords)
    .option("--starts <instant>", "when to start showing it", parseInstant)
    .option("--ends <instant>", "when to stop showing it", parseInstant)
    .does(async ({ db, confirm }, kind: StoredBanner["kind"], message: string, { starts, ends }: Times) => {
      const stored = { kind, message, starts_at_ms: starts ?? null, ends_at_ms: ends ?? null };
      const earlier = await findBanner(db);
      if (earlier) await confirm(`This replaces the ${earlier.kind} “${earlier.message}”.`);
      await setBanner(db, { banner: stored }, Date.now());
      return toResult(stored);
    });

  banner.add("clear", "remove the notice").does(async ({ db }) => {
    await setBanner(db, { banner: undefined }, Date.now());
    return toResult(undefined);
  });

  banner.add("show", "show the notice that is set").does(async ({ db }) => toResult(await findBanner(db)));
}

type Times = { starts?: number; ends?: number };

function toResult(stored: StoredBanner | undefined): Result {
  if (!stored) return { json: { banner: null }, text: "There is no banner." };
  const { kind, message, starts_at_ms, ends_at_ms } = stored;
  const banner = { kind, message, startsAt: asIso(starts_at_ms), endsAt: asIso(ends_at_ms) };
  return { json: { banner }, text: asLines(banner) };
}
