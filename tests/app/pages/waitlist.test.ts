import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { rateLimits, waitlistBounds } from "@/lib/config/limits";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo, mailTo } from "@/tests/support/mailbox";

describe.each(engines)("the waitlist on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, TRUSTED_PROXY_HOPS: "1" });
  beforeEach(() => stage.query("DELETE FROM waitlist"));

  let networks = 0;
  /** Joins from this network, or from an unused one. */
  const joinList = async (email: string, from = `2001:db8:${(++networks).toString(16)}::1`) => {
    const headers = { "x-forwarded-for": from };
    const answer = await service.submit("/waitlist/join", { email }, { headers });
    expect(answer.status).toBe(303);
    return answer.headers.location;
  };
  /** Joins, and waits until the runner has decided about the mail. */
  const joinAndWait = async (email: string) => {
    expect(await joinList(email)).toBe("/waitlist?joined");
    await eventually(async () =>
      expect(await stage.query("SELECT id FROM sign_in_mails WHERE kind = 'waitlist'")).toEqual([]),
    );
  };
  const fill = (count: number, joinedAtMs: number) =>
    stage.query(
      `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${count})
       INSERT INTO waitlist (email, joined_at_ms) SELECT 'reader' || n || '@example.com', ${joinedAtMs} FROM r`,
    );

  it("writes for a known email as for a new one, so that both take the same time", async () => {
    /** A value that changes with every write. */
    const lastWrite = async (email: string) =>
      stage.environment.DATABASE_URL
        ? (await stage.query(`SELECT xmin::text FROM waitlist WHERE email = '${email}'`))[0]?.xmin
        : readFileSync(join(service.dataDir, "store.sqlite-wal")).toString("latin1");
    for (const email of ["known@example.com", "invited@example.com"]) await joinAndWait(email);
    expect((await service.ask("/waitlist?joined")).text).toContain("<title>Check your inbox");
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

  const mailsAbout = async (email: string) =>
    (await mailsTo(service.dataDir, email)).filter(({ subject }) => /waitlist/.test(subject ?? ""));
  const tokenIn = ({ text = "" }: { text?: string | undefined }) =>
    /\/waitlist\?token=([\w-]{43})\n/.exec(text)?.[1] ?? "";
  const confirm = async (token: string) =>
    (await service.submit("/waitlist/confirm", { token })).headers.location;
  const weekMs = 7 * 24 * 60 * 60 * 1000;

  it("shows the address, and mails a link that confirms it by the button of its page", async () => {
    const answer = await service.submit("/waitlist/join", { email: "Mara@example.com" });
    const cookie = String(answer.headers["set-cookie"]?.[0]?.split(";")[0]);
    const page = await service.ask("/waitlist?joined", { headers: { cookie } });
    expect(page.text).toContain("open the link that we sent to <strong>Mara@example.com</strong>.");

    const token = tokenIn(await mailTo(service.dataDir, "mara@example.com", /Confirm your place/));
    const opened = await service.ask(`/waitlist?token=${token}`);
    expect(opened.text).toContain("Confirm only if it was you.");
    const confirmedAt = async () =>
      (await service.adminJson<{ confirmedAt: string | null }[]>("waitlist", "list"))[0]?.confirmedAt;
    expect(await confirmedAt(), "opened by a scanner").toBeNull();
    expect(await confirm("x".repeat(43))).toBe("/waitlist?problem=link");
    expect(await confirmedAt()).toBeNull();
    expect(await confirm(token)).toBe("/waitlist?confirmed");
    const first = await confirmedAt();
    expect(Date.parse(String(first))).toBeGreaterThan(Date.now() - 60_000);
    expect((await service.ask("/waitlist?confirmed")).text).toContain("Your place on the waitlist is kept.");
    expect(await confirm(token)).toBe("/waitlist?confirmed");
    expect(await confirmedAt()).toBe(first);
    expect(JSON.stringify(await stage.query("SELECT * FROM waitlist"))).not.toContain(token);
    expect(service.log).not.toContain(token);
  });

  it("mails a mailbox at most once a week, however its address is spelled", async () => {
    for (const email of ["zoe@example.com", "zoe@example.com", "zoe+news@example.com", "zo.e@example.com"])
      await joinAndWait(email);
    expect(await mailsAbout("zoe@example.com")).toHaveLength(1);
    expect(await mailsAbout("zoe+news@example.com")).toHaveLength(0);
    expect(await mailsAbout("zo.e@example.com"), "another mailbox").toHaveLength(1);
    await joinAndWait("z.oe@gmail.com");
    await joinAndWait("zo.e+x@googlemail.com");
    expect(await mailsAbout("zo.e+x@googlemail.com")).toHaveLength(0);

    const mailed = (ms: number) =>
      stage.query(`UPDATE waitlist SET confirmation_mailed_at_ms = ${ms} WHERE email = 'zoe@example.com'`);
    await mailed(Date.now() - weekMs + 60_000);
    await joinAndWait("zoe@example.com");
    expect(await mailsAbout("zoe@example.com")).toHaveLength(1);
    await mailed(Date.now() - weekMs);
    await joinAndWait("zoe@example.com");
    const [earlier, later] = (await mailsAbout("zoe@example.com")).map(tokenIn);
    expect(await confirm(String(earlier)), "replaced").toBe("/waitlist?problem=link");
    expect(await confirm(String(later))).toBe("/waitlist?confirmed");
    await mailed(0);
    await joinAndWait("zoe@example.com");
    expect(await mailsAbout("zoe@example.com"), "confirmed").toHaveLength(2);
  });

  it("mails no one who has an account or is invited", async () => {
    await service.adminJson("account", "add", "owner@example.com");
    await joinAndWait("owner@example.com");
    await stage.query(
      "INSERT INTO waitlist (email, joined_at_ms, invited_at_ms) VALUES ('guest@example.com', 1, 2)",
    );
    await joinAndWait("guest@example.com");
    expect(await mailsAbout("owner@example.com")).toEqual([]);
    expect(await mailsAbout("guest@example.com")).toEqual([]);
  });

  it("deletes an email that is not confirmed after 30 days, and none that is confirmed or invited", async () => {
    for (const name of ["no", "yes", "guest"]) await joinAndWait(`${name}@example.com`);
    const [mail] = await mailsAbout("yes@example.com");
    await confirm(tokenIn(mail ?? {}));
    await service.adminJson("waitlist", "invite", "guest@example.com");
    const until = await stage.query("SELECT email, unconfirmed_until_ms AS ms FROM waitlist ORDER BY email");
    expect(until.map(({ email, ms }) => [email, ms === null])).toEqual([
      ["guest@example.com", true],
      ["no@example.com", false],
      ["yes@example.com", true],
    ]);
    const days = (Number(until[1]?.ms) - Date.now()) / (24 * 60 * 60 * 1000);
    expect(days).toBeCloseTo(30, 2);
    await stage.query(
      `UPDATE waitlist SET unconfirmed_until_ms = ${Date.now()} WHERE unconfirmed_until_ms IS NOT NULL`,
    );
    await service.admin("emails", "send-due");
    expect(
      (await stage.query("SELECT email FROM waitlist ORDER BY email")).map(({ email }) => email),
    ).toEqual(["guest@example.com", "yes@example.com"]);
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
    expect(await service.check("waitlist")).toMatchObject({ level: "fault", works: false });

    expect(await service.adminJson("waitlist", "remove", "READER7@example.com")).toEqual({
      removed: "reader7@example.com",
    });
    expect(await service.check("waitlist")).toMatchObject({ level: "warning", works: true });
    expect(await joinList("new@example.com")).toBe("/waitlist?joined");
    expect(await joinList("newer@example.com")).toBe("/waitlist?problem=full");
    await stage.query("UPDATE waitlist SET invited_at_ms = 1 WHERE email = 'reader8@example.com'");
    expect(await joinList("newer@example.com")).toBe("/waitlist?joined");
  });

  it("is listed with who was invited, and the operator is told of an email that it has not", async () => {
    for (const email of ["first@example.com", "Second@Example.com"]) await joinList(email);
    await service.adminJson("waitlist", "invite", "SECOND@example.com", "--plan", "hobby");
    const joined = { joinedAt: expect.any(String), confirmedAt: null };
    const listed = await service.adminJson<{ email: string }[]>("waitlist", "list");
    expect(listed.filter(({ email }) => email.endsWith(".com"))).toEqual([
      { email: "first@example.com", ...joined, invitedAt: null },
      { email: "second@example.com", ...joined, invitedAt: expect.any(String) },
    ]);
    for (const [command, words] of [
      ["invite", ", or use 'invite'"],
      ["remove", ""],
    ] as const) {
      expect(await service.admin("waitlist", command, "nobody@example.com")).toEqual({
        code: 1,
        stdout: "",
        stderr: `not_found: This email is not on the waitlist. See 'waitlist list'${words}.\n`,
      });
    }
  });

  it("passes the check until it grows unusually fast", async () => {
    await fill(waitlistBounds.usualJoins, Date.now() - 60_000);
    expect(await service.check("waitlist")).toMatchObject({ level: "fine" });
    await joinList("one-more@example.com");
    expect(await service.check("waitlist")).toMatchObject({
      level: "warning",
      remedy: expect.stringContaining("waitlist list"),
    });
  });
});
