import { afterAll, expect, it } from "vitest";
import { closeStore, store } from "@/lib/db/store";
import { readSiteBanner, setBanner } from "@/lib/site-banner";
import { createFolder } from "@/tests/support/leash";

const noonMs = Date.UTC(2026, 10, 21, 12);
const twoHoursMs = 2 * 60 * 60 * 1000;
const notice = (message: string) =>
  ({ kind: "warning", message, starts_at_ms: null, ends_at_ms: null }) as const;

process.env.DATA_DIR = createFolder();
const db = await store();
afterAll(closeStore);

it("keeps a copy of the notice for 15 seconds, also when the wall clock steps back or on", async () => {
  await setBanner(db, { banner: notice("one") }, Date.now());
  expect(await readSiteBanner(noonMs, 1_000_000)).toEqual({ kind: "warning", message: "one" });
  await setBanner(db, { banner: notice("another") }, Date.now());
  expect((await readSiteBanner(noonMs + twoHoursMs, 1_014_999))?.message).toBe("one");
  expect((await readSiteBanner(noonMs - twoHoursMs, 1_015_000))?.message).toBe("another");
});

it("shows a notice from its start, and no longer at its end", async () => {
  const planned = { ...notice("planned"), starts_at_ms: noonMs, ends_at_ms: noonMs + twoHoursMs };
  await setBanner(db, { banner: planned }, noonMs);
  const messageAt = async (nowMs: number) => (await readSiteBanner(nowMs, 2_000_000))?.message;
  expect(await messageAt(noonMs - 1)).toBeUndefined();
  expect(await messageAt(noonMs)).toBe("planned");
  expect(await messageAt(noonMs + twoHoursMs - 1)).toBe("planned");
  expect(await messageAt(noonMs + twoHoursMs)).toBeUndefined();
});
