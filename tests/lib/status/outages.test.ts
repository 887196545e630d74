import { beforeEach, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { listOutages, recordOutages, type Unwritten } from "@/lib/status/outages";
import { startStageForEach } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const startMs = Date.parse("2026-11-23T09:00:00Z");
const second = 1000;
const minute = 60 * second;

describe.each(engines)("the outages of the last 90 days, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  let unwritten: Unwritten;
  const record = (broken: string[], atMs: number, by = unwritten, from = async () => db) => {
    const parts = [{ name: "Public API" }, ...broken.map((name) => ({ name, isOutage: true as const }))];
    return recordOutages(from, parts, by, atMs);
  };
  const list = (nowMs = startMs) => listOutages(db, nowMs);

  beforeEach(() => {
    unwritten = new Map();
  });

  it("begin when they are first seen, and end when they were last seen", async () => {
    await record([], startMs - second);
    await record(["Mail"], startMs);
    await record(["Mail"], startMs + 10 * second);
    const ongoing = { part: "Mail", started_at_ms: startMs, ended_at_ms: null };
    expect(await list()).toEqual([ongoing]);
    await record([], startMs + 20 * second);
    expect(await list()).toEqual([ongoing]);
    await record([], startMs + 41 * second);
    expect(await list()).toEqual([{ ...ongoing, ended_at_ms: startMs + 10 * second }]);
  });

  it("end each by itself where two parts break at once", async () => {
    await record(["Mail", "Sign-in"], startMs);
    for (const seconds of [10, 20, 30, 40, 50]) await record(["Mail"], startMs + seconds * second);
    const ends = (await list()).map(({ part, ended_at_ms }) => [part, ended_at_ms]);
    expect(new Map(ends as [string, number | null][])).toEqual(
      new Map([
        ["Mail", null],
        ["Sign-in", startMs],
      ]),
    );
  });

  it("are one while an instance sees them, whatever the others see", async () => {
    const other: Unwritten = new Map();
    for (let atMs = startMs; atMs < startMs + 15 * minute; atMs += 10 * second) {
      await record(["Mail"], atMs);
      await record([], atMs + second, other);
    }
    expect(await list()).toEqual([{ part: "Mail", started_at_ms: startMs, ended_at_ms: null }]);
  });

  it("are one when several instances see them first at the same time", async () => {
    await Promise.all(Array.from({ length: 5 }, (_, nth) => record(["Mail"], startMs + nth, new Map())));
    expect(await list()).toHaveLength(1);
  });

  it("keep their last sight when an instance whose clock is an hour behind sees them too", async () => {
    await record(["Mail"], startMs);
    await record(["Mail"], startMs - 60 * minute, new Map());
    await record([], startMs + 20 * second);
    expect(await list()).toEqual([{ part: "Mail", started_at_ms: startMs, ended_at_ms: null }]);
  });

  it("are one when a part comes and goes within ten minutes, and two when it stays for longer", async () => {
    await record(["Mail"], startMs);
    await record([], startMs + minute);
    await record(["Mail"], startMs + 9 * minute);
    await record([], startMs + 10 * minute);
    await record(["Mail"], startMs + 20 * minute);
    expect(await list()).toEqual([
      { part: "Mail", started_at_ms: startMs + 20 * minute, ended_at_ms: null },
      { part: "Mail", started_at_ms: startMs, ended_at_ms: startMs + 9 * minute },
    ]);
  });

  it("are two when a part was well for ten minutes", async () => {
    for (const atMs of [startMs, startMs + 10 * minute]) {
      await record(["Mail"], atMs);
      await record([], atMs + minute);
    }
    expect(await list()).toHaveLength(2);
  });

  it("are written with their beginning once the store is back", async () => {
    const away = async () => Promise.reject(new Error("the store is away"));
    await expect(record(["Mail"], startMs, unwritten, away)).rejects.toThrow("the store is away");
    await expect(record([], startMs + 10 * second, unwritten, away)).rejects.toThrow("the store is away");
    await record(["Rate limits"], startMs + minute);
    expect(await list()).toEqual([
      { part: "Rate limits", started_at_ms: startMs + minute, ended_at_ms: null },
      { part: "Mail", started_at_ms: startMs, ended_at_ms: startMs },
    ]);
  });

  it("are forgotten after 90 days, and the newest are listed", async () => {
    await record(["Mail"], startMs - 91 * dayMs);
    expect(await list(startMs - 91 * dayMs)).toHaveLength(1);
    expect(await list()).toEqual([]);
    for (let nth = 0; nth < 60; nth++) await record(["Mail"], startMs + nth * 20 * minute);
    const listed = await list();
    expect(listed).toHaveLength(60);
    expect(await listOutages(db, startMs + 60 * 20 * minute, 50)).toEqual(listed.slice(0, 50));
    expect(listed[0]?.started_at_ms).toBe(startMs + 59 * 20 * minute);
    expect(await stage.query("SELECT part FROM status_outages")).toHaveLength(60);
  });
});
