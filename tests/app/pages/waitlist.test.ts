import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rateLimits, waitlistBounds } from "@/lib/config/limits";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

describe.each(engines)("the waitlist on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start({ ...stage.environment, TRUSTED_PROXY_HOPS: "1" });
  });
  beforeEach(() => stage.query("DELETE FROM waitlist"));
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  let networks = 0;
  /** Joins from this network, or from an unused one. */
  const joinList = async (email: string, from = `2001:db8:${(++networks).toString(16)}::1`) => {
    const answer = await service.submit(
      "/waitlist/join",
      { email },
      { headers: { "x-forwarded-for": from } },
    );
    expect(answer.status).toBe(303);
    return answer.headers.location;
  };
  const fill = (count: number, joinedAtMs: number) =>
    stage.query(
      stage.environment.DATABASE_URL
        ? `INSERT INTO waitlist SELECT 'reader' || n || '@example.com', ${joinedAtMs} FROM generate_series(1, ${count}) AS n`
        : `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${count})
           INSERT INTO waitlist (email, joined_at_ms) SELECT 'reader' || n || '@example.com', ${joinedAtMs} FROM r`,
    );
  const findCheck = async () => {
    const { stdout } = await service.admin("--json", "check");
    return JSON.parse(stdout).find(({ what }: { what: string }) => what === "waitlist");
  };

  it("writes for a known email as for a new one, so that both take the same time", async () => {
    /** A value that changes with every write. */
    const lastWrite = async (email: string) =>
      stage.environment.DATABASE_URL
        ? (await stage.query(`SELECT xmin::text FROM waitlist WHERE email = '${email}'`))[0]?.xmin
        : readFileSync(join(service.dataDir, "store.sqlite-wal")).toString("latin1");
    for (const email of ["known@example.com", "invited@example.com"])
      expect(await joinList(email)).toBe("/waitlist?joined");
    expect((await service.ask("/waitlist?joined")).text).toContain("<title>You are on the list");
    await stage.query("UPDATE waitlist SET invited_at_ms = 1 WHERE email = 'invited@example.com'");
    const before = await stage.query("SELECT * FROM waitlist ORDER BY email");
    for (const email of ["known@example.com", "invited@example.com"]) {
      const written = await lastWrite(email);
      expect(await joinList(email)).toBe("/waitlist?joined");
      expect(await lastWrite(email), email).not.toBe(written);
    }
    expect(await stage.query("SELECT * FROM waitlist ORDER BY email")).toEqual(before);
    expect(await stage.query("SELECT * FROM audit_entries WHERE who = 'visitor'")).toEqual([]);
  });

  it("limits the emails from one network per day, however many addresses it has", async () => {
    const { perNetwork: ofOne } = rateLimits.waitlist;
    const from = (n: number) => `2001:db8:ffff:${n.toString(16)}::1`;
    for (let n = 0; n < ofOne; n++)
      expect(await joinList("one@example.com", from(n))).toBe("/waitlist?joined");
    for (const email of ["one@example.com", "two@example.com"])
      expect(await joinList(email, from(ofOne))).toBe("/waitlist?problem=network");
    expect((await service.ask("/waitlist?problem=network")).text).toContain("from your network today");
    expect(await joinList("two@example.com")).toBe("/waitlist?joined");
    expect(await stage.query("SELECT email FROM waitlist")).toHaveLength(2);
  });

  it("is full for everyone at its maximum, shows that, and removes no one who waits", async () => {
    await fill(waitlistBounds.waiting, Date.now() - 3 * 24 * 60 * 60 * 1000);
    for (const email of ["new@example.com", "reader7@example.com"])
      expect(await joinList(email)).toBe("/waitlist?problem=full");
    expect((await service.ask("/waitlist?problem=full")).text).toContain(
      "The waitlist is full at the moment",
    );
    await eventually(() => expect(service.log).toContain("the waitlist is full"));
    expect(await findCheck()).toMatchObject({ level: "fault", works: false });

    expect(await service.adminJson("waitlist", "remove", "READER7@example.com")).toEqual({
      removed: "reader7@example.com",
    });
    expect(await findCheck()).toMatchObject({ level: "warning", works: true });
    expect(await joinList("new@example.com")).toBe("/waitlist?joined");
    expect(await joinList("newer@example.com")).toBe("/waitlist?problem=full");
    await stage.query("UPDATE waitlist SET invited_at_ms = 1 WHERE email = 'reader8@example.com'");
    expect(await joinList("newer@example.com")).toBe("/waitlist?joined");
  });

  it("lets an operator remove an email, and reports an unknown one", async () => {
    await joinList("gone@example.com");
    await service.adminJson("waitlist", "remove", "gone@example.com");
    expect(await service.adminJson("waitlist", "list")).toEqual([]);
    const [entry] = await service.adminJson<object[]>("audit", "list");
    expect(entry).toMatchObject({
      ...{ who: expect.stringMatching(/^operator/), what: "waitlist remove", whom: "gone@example.com" },
      ...{ before: { joined_at_ms: expect.any(Number) }, after: null },
    });
    expect(await service.admin("waitlist", "remove", "gone@example.com")).toEqual({
      code: 1,
      stdout: "",
      stderr: "not_found: This email is not on the waitlist. See 'waitlist list'.\n",
    });
  });

  it("passes the check until it grows unusually fast", async () => {
    await fill(waitlistBounds.usualJoins, Date.now() - 60_000);
    expect(await findCheck()).toMatchObject({ level: "fine" });
    await joinList("one-more@example.com");
    expect(await findCheck()).toMatchObject({
      level: "warning",
      remedy: expect.stringContaining("waitlist list"),
    });
  });
});
