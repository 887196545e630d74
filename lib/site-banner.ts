import { createHash } from "node:crypto";
import * as z from "zod";
import { asIso } from "@/lib/config/instants";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { operations, type SiteBanner } from "@/lib/http/register/operations";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

export const bannerKinds = operations.siteBanner.answer.shape.banner.unwrap().shape.kind.options;

const copyLivesMs = 15_000; // 15 seconds
const retryAfterMs = 1000;
const waitAtMostMs = 500;

const storedBanner = z.object({
  kind: z.enum(bannerKinds),
  message: z.string().min(1),
  starts_at_ms: z.int().nullable(),
  ends_at_ms: z.int().nullable(),
});

/** A notice and, where it has them, the instants between which it shows: Unix milliseconds, the end excluded. */
export type StoredBanner = z.infer<typeof storedBanner>;

/** This process's copy of the banner, for the API and the pages alike. */
const copy = perProcess("site banner", () => ({
  banner: undefined as (StoredBanner & { id: string }) | undefined,
  readAtMs: undefined as number | undefined,
  readAgainAtMs: 0,
  reading: undefined as Promise<void> | undefined,
}));

/** A notice, and the id by which a browser knows that it was dismissed: each time that it is announced it has another. */
export type Announcement = SiteBanner & { id: string };

/** The banner as the API answers it; see {@link readAnnouncement}. */
export async function readSiteBanner(...at: Parameters<typeof readAnnouncement>): Promise<SiteBanner | null> {
  const announced = await readAnnouncement(...at);
  return announced && { kind: announced.kind, message: announced.message };
}

/**
 * The banner that shows at `nowMs`, from a copy at most 15 s old, at once while that is not older. It never throws: when
 * the store does not answer within half a second, the last copy goes on serving. A notice must not take the site down.
 *
 * @param clockMs - milliseconds of a clock that never steps back: the age of the copy is told by it
 */
export function readAnnouncement(
  nowMs = Date.now(),
  clockMs = performance.now(),
): Announcement | null | Promise<Announcement | null> {
  const held = copy();
  if (clockMs < held.readAgainAtMs) return shownAt(nowMs);
  held.reading ??= refresh(clockMs).finally(() => {
    held.reading = undefined;
  });
  return held.reading.then(() => shownAt(nowMs));
}

function shownAt(nowMs: number): Announcement | null {
  const { banner } = copy();
  if (!banner || nowMs < (banner.starts_at_ms ?? nowMs)) return null;
  if (nowMs >= (banner.ends_at_ms ?? Number.POSITIVE_INFINITY)) return null;
  return banner;
}

/** For `Age` (RFC 9111 §5.1): caches subtract it from their 15 seconds, so that a change is everywhere within 30. */
export function ageOfSiteBanner(): number {
  const clockMs = performance.now();
  return Math.ceil((clockMs - (copy().readAtMs ?? clockMs)) / 1000);
}

async function refresh(clockMs: number): Promise<void> {
  const held = copy();
  try {
    held.banner = await withTimeout(waitAtMostMs, store().then(findAnnouncement));
    held.readAtMs = clockMs;
    held.readAgainAtMs = clockMs + copyLivesMs;
  } catch (failure) {
    log().warn({ err: failure }, "the banner could not be read; the last copy is used");
    held.readAgainAtMs = clockMs + retryAfterMs;
  }
}

async function findAnnouncement(db: Db) {
  const banner = await findBanner(db);
  if (!banner) return undefined;
  const row = await db.selectFrom("site_banner").select("announced_at_ms").executeTakeFirst();
  const { kind, message } = banner;
  const told = [kind, message, ...(row?.announced_at_ms ? [row.announced_at_ms] : [])].join("\n");
  return { ...banner, id: createHash("sha256").update(told).digest("base64url").slice(0, 16) };
}

/** The stored banner, whether or not it shows now. */
export async function findBanner(db: Db): Promise<StoredBanner | undefined> {
  const row = await db
    .selectFrom("site_banner")
    .select(["kind", "message", "starts_at_ms", "ends_at_ms"])
    .where("id", "=", 1)
    .executeTakeFirst();
  return row && storedBanner.parse(row);
}

type BannerChange = {
  banner: StoredBanner | undefined;
  by?: Operator;
  /** Throws if what was there is no longer what the operator saw. */
  requireSame?: (current: StoredBanner | undefined) => void;
};

/**
 * Puts a banner in the place of whatever was there, or only takes that away. Throws an {@link ApiError} if it would never
 * show.
 */
export async function setBanner(
  db: Db,
  { banner, by = "operator", requireSame }: BannerChange,
  nowMs: number,
): Promise<void> {
  const { starts_at_ms = null, ends_at_ms = null } = banner ?? {};
  if (ends_at_ms !== null && ends_at_ms <= (starts_at_ms ?? 0)) {
    throw new ApiError("invalid_request", {
      message: "The banner would end before it starts.",
      hint: "Nothing was changed. Set its end to a later time than its start.",
    });
  }
  if (ends_at_ms !== null && ends_at_ms <= nowMs) {
    throw new ApiError("invalid_request", {
      message: `The banner would never show: ${asIso(ends_at_ms)} is over.`,
      hint: "Nothing was changed. Its times are in UTC; to take away one that shows, clear it.",
    });
  }
  const readState = (db: Db) => db.selectFrom("site_banner").selectAll().executeTakeFirst();
  const change = { by, what: banner ? "banner set" : "banner clear", whom: null, readState };
  await auditedTransaction(db, change, nowMs, async (transaction) => {
    requireSame?.(await findBanner(transaction));
    if (!banner) {
      await transaction.deleteFrom("site_banner").execute();
      return;
    }
    const { kind, message } = banner;
    const row = { kind, message, starts_at_ms, ends_at_ms, announced_at_ms: nowMs };
    await transaction
      .insertInto("site_banner")
      .values({ id: 1, ...row })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  });
}
