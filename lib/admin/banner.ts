import { Argument, type Command } from "commander";
import { type Confirm, parseInstant, parseWords, type Run, withExamples } from "@/lib/admin/command";
import { asLines, type Result } from "@/lib/admin/print";
import { toFields } from "@/lib/config/instants";
import { ApiError } from "@/lib/http/errors";
import { bannerKinds, clearBanner, findBanner, type StoredBanner, setBanner } from "@/lib/site-banner";

/** `banner set|clear|show`. */
export function addBannerCommands(program: Command, run: Run, confirm: Confirm): void {
  const banner = program.command("banner").description("the notice at the top of the site");

  withExamples(
    banner.command("set"),
    "banner set warning 'We are down for repairs at noon' --ends 2027-01-31T13:00:00Z",
  )
    .description("show a notice: a promo on the public site, a warning everywhere")
    .addArgument(new Argument("<kind>").choices(bannerKinds))
    .argument("<message>", "", parseWords)
    .option("--starts <instant>", "when to start showing it", parseInstant)
    .option("--ends <instant>", "when to stop showing it", parseInstant)
    .action(
      run(
        async (
          db,
          kind: StoredBanner["kind"],
          message: string,
          options: { starts?: number; ends?: number },
        ) => {
          const { starts: startsAtMs = null, ends: endsAtMs = null } = options;
          if (startsAtMs !== null && endsAtMs !== null && endsAtMs <= startsAtMs) {
            throw new ApiError("invalid_request", {
              message: "The banner would end before it starts.",
              hint: "Set --ends to a later time than --starts.",
            });
          }
          const stored = { kind, message, startsAtMs, endsAtMs };
          const earlier = await findBanner(db);
          if (earlier) await confirm(`This replaces the ${earlier.kind} “${earlier.message}”.`);
          await setBanner(db, stored, Date.now());
          return toResult(stored);
        },
      ),
    );

  withExamples(banner.command("clear"), "banner clear")
    .description("remove the notice")
    .action(
      run(async (db) => {
        await clearBanner(db, Date.now());
        return toResult(undefined);
      }),
    );

  withExamples(banner.command("show"), "banner show")
    .description("show the notice that is set")
    .action(run(async (db) => toResult(await findBanner(db))));
}

function toResult(stored: StoredBanner | undefined): Result {
  if (!stored) return { json: { banner: null }, text: "There is no banner." };
  const { kind, message, startsAtMs, endsAtMs } = stored;
  const banner = toFields({ kind, message, startsAtMs, endsAtMs });
  return { json: { banner }, text: asLines(banner) };
}
