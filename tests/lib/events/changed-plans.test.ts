import { describe, expect, it } from "vitest";
import { setPlan } from "@/lib/accounts/terms/plan-changes";
import { listEvents } from "@/lib/backend/event-list";
import type { Db } from "@/lib/db/store";
import { tellChangedPlans } from "@/lib/events/changed-plans";
import { engines, type Stage } from "@/tests/support/engines";

const nowMs = Date.parse("2027-01-31T09:00:00Z");
const many = 1700;

/** Makes so many accounts, of which two of three have the plan, one paid and one given. */
async function addAccounts(stage: Stage): Promise<void> {
  await stage.query(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
    INSERT INTO accounts (id, email, plan, paid_plan, given_plan, created_at_ms)
    SELECT 'acc_' || i, 'ceo' || i || '@example.com', 'licensed', CASE i % 3 WHEN 0 THEN 'studio' END,
      CASE i % 3 WHEN 1 THEN 'studio' WHEN 2 THEN 'atelier' END, ${nowMs} FROM n`,
  );
  await stage.query("DELETE FROM events");
}

/** What each account was told, in its order. */
async function toldOf(db: Db): Promise<Map<string, unknown[]>> {
  const { events } = await listEvents(db, undefined, 10_000);
  const data = events.map((event) => event.data as Record<string, unknown>);
  return new Map(
    [...Map.groupBy(data, ({ account }) => String(account))].map(([account, all]) => [
      account,
      all.map(({ account: _, ...told }) => told),
    ]),
  );
}

describe.each(engines)("the changes of plans on $name", (engine) => {
  it("are told to each account that has the plan, once and in their order, by several instances", async () => {
    const stage = await engine.prepare({ isAlone: true });
    const dbs = [await stage.open(), await stage.open(), await stage.open()] as const;
    const [db] = dbs;
    const set = (name: string, feature: string) =>
      setPlan(db, name, { features: { [feature]: "" } }, {}, nowMs);
    await set("studio", "none");
    await set("atelier", "none");
    await addAccounts(stage);
    await set("studio", "voice");
    await set("atelier", "voice");
    await set("studio", "video");
    await Promise.all(dbs.map((one) => tellChangedPlans(one)));
    const change = (number: number, plan: string, before: string, after: string) => {
      const limits = {};
      return {
        number,
        before: { plan, features: [before], limits },
        after: { plan, features: [after], limits },
      };
    };
    const studio = [change(1, "studio", "none", "voice"), change(2, "studio", "voice", "video")];
    const atelier = [change(1, "atelier", "none", "voice")];
    const told = await toldOf(db);
    expect(told.size).toBe(many);
    for (let i = 1; i <= many; i++) expect(told.get(`acc_${i}`)).toEqual(i % 3 === 2 ? atelier : studio);
    expect(await stage.query("SELECT * FROM changed_plans")).toEqual([]);
    await stage.clear();
  });

  it("go on where a process that ended had come to, and leave out who has the plan no more", async () => {
    const stage = await engine.prepare({ isAlone: true });
    const db = await stage.open();
    await setPlan(db, "studio", { features: { none: "" } }, {}, nowMs);
    await addAccounts(stage);
    await setPlan(db, "studio", { features: { voice: "" } }, {}, nowMs);
    const ending = new AbortController();
    const telling = tellChangedPlans(db, ending.signal);
    ending.abort();
    await telling;
    const [first] = await stage.query("SELECT last_account_id FROM changed_plans");
    const through = String(first?.last_account_id);
    const having = "plan = 'licensed' AND (paid_plan = 'studio' OR given_plan = 'studio')";
    const countOf = async (table: string, where: string) =>
      (await stage.query(`SELECT 1 FROM ${table} WHERE ${where}`)).length;
    expect(await countOf("accounts", `id <= '${through}'`)).toBe(500);
    expect(await countOf("events", "1 = 1")).toBe(
      await countOf("accounts", `${having} AND id <= '${through}'`),
    );
    const [gone] = await stage.query(`SELECT id FROM accounts WHERE ${having} AND id > '${through}' LIMIT 1`);
    await stage.query(`UPDATE accounts SET paid_plan = NULL, given_plan = NULL WHERE id = '${gone?.id}'`);
    await tellChangedPlans(db);
    const told = await toldOf(db);
    expect(told.size).toBe((await countOf("accounts", having)) + 1);
    expect(told.get(String(gone?.id))).toMatchObject([{ after: { plan: "licensed" } }]);
    expect([...told.values()].every((events) => events.length === 1)).toBe(true);
    await stage.clear();
  });
});
