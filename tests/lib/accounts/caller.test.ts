import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { readCaller } from "@/lib/accounts/caller";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { everyEngine } from "@/tests/support/engines";

it.each(everyEngine)("callers of one turn each get their own account or none, on $name", async (engine) => {
  for (const stage of [await engine.prepare(), await engine.prepare()]) {
    const db = await stage.open();
    const admit = (name: string) =>
      addAccount(db, `${name}@example.com`, { subject: `user_${name}` }, Date.now());
    const ids = { user_a: (await admit("a")).id, user_b: (await admit("b")).id };
    const read = async (subject: string, nowMs = Date.now()) =>
      (await readCaller(db, { subject, sessionId: "sess_none", keyId: "", nowMs }))?.id;
    expect(await read("user_a")).toBe(ids.user_a);
    expect(await read("' OR 1=1 --")).toBeUndefined();
    const crowd = Array.from({ length: 100 }, (_, n) => read(["user_b", "user_none", "user_a"][n % 3] ?? ""));
    expect(await Promise.all(crowd)).toEqual(
      Array.from({ length: 100 }, (_, n) => [ids.user_b, undefined, ids.user_a][n % 3]),
    );
    await stage.clear();
    await expect(Promise.all([read("user_a"), read("user_b")])).rejects.toThrow();
  }
});

it.each(everyEngine)(
  "callers that several turns bring one after the other are one query, on $name",
  async (engine) => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const read = (subject: string) =>
      readCaller(db, { subject, sessionId: "", keyId: "", nowMs: Date.now() });
    await read("user_first");
    using _clock = vi.spyOn(performance, "now").mockReturnValue(0);
    using queries = vi.spyOn(db, "executeQuery");
    const reading = [read("user_a"), read("user_b")];
    for (const later of ["user_c", "user_d"]) {
      await nextTurn();
      reading.push(read(later));
    }
    expect(await Promise.all(reading)).toEqual(Array(4).fill(undefined));
    expect(queries).toHaveBeenCalledTimes(1);
    await read("user_a");
    expect(queries).toHaveBeenCalledTimes(2);
  },
);
