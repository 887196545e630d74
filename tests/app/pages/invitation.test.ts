import { describe, expect, it } from "vitest";
import { onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { borrowService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { codesTo, codeTo, mailTo } from "@/tests/support/mailbox";

describe.each(engines)("an invitation, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let clients = 0;
  const accept = (token: string, email: string) =>
    service.submit("/invitation/accept", { token, email }, { from: `127.42.0.${++clients}` });

  async function invite(email: string, ...terms: string[]): Promise<{ token: string; url: string }> {
    const { url } = await service.adminJson<{ url: string }>("invite", email, ...terms);
    return { url, token: new URL(url).searchParams.get("token") ?? "" };
  }

  const heading = async (token: string) => {
    const { status, text } = await service.ask(`/invitation?token=${token}`);
    expect(status).toBe(200);
    return /<h1>([^<]*)<\/h1>/.exec(text)?.[1];
  };

  it("creates the account with the operator's terms, its credits and its mails", async () => {
    const terms = ["--plan", "trial", "--trial-days", "30", "--assistant-limit", "5", "--credits", "12.5"];
    const { token, url } = await invite("New@Example.com", ...terms);
    expect(url).toMatch(new RegExp(`^${service.url}/invitation\\?token=[\\w-]{43}$`));
    expect((await mailTo(service.dataDir, "new@example.com", /invitation/)).text).toContain(url);
    expect(await service.admin("account", "show", "new@example.com")).toMatchObject({ code: 1 });
    expect(await heading(token)).toBe("You are invited");

    const answer = await accept(token, " NEW@example.com ");
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe("/sign-in/code?opened");
    expect(await codeTo(service.dataDir, "new@example.com")).toMatch(/^\d{6}$/);
    const account = await service.adminJson("account", "show", "new@example.com");
    expect(account).toMatchObject({
      subject: expect.stringMatching(/^user_/),
      plan: "trial",
      assistantLimit: 5,
      credits: 12.5,
    });
    const days = (Date.parse(String(account.trialEndsAt)) - Date.now()) / (24 * 60 * 60 * 1000);
    expect(days).toBeCloseTo(30, 2);
    expect(await service.adminJson("credits", "history", "new@example.com")).toHaveLength(1);
    const mails = await service.adminJson<{ kind: string }[]>("emails", "list", "new@example.com");
    expect(mails.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...onboardingKinds, "invitation"]));
  });

  it.each([
    ["O'Brien/Sales&Co@Example.com", "o'brien/sales&co@example.com"],
    ['"a..b"@docomo.ne.jp', "a..b@docomo.ne.jp"],
    ["a.@ezweb.ne.jp", "a.@ezweb.ne.jp"],
    ["ｃｅｏ＠例え．ｊｐ", "ceo@xn--r8jz45g.jp"],
    ["ceo@example.xn--p1ai", "ceo@example.xn--p1ai"],
  ])("reaches %s, who accepts it, gets a code and is found again", async (typed, email) => {
    const { token } = await invite(typed);
    expect((await accept(token, typed)).headers.location).toBe("/sign-in/code?opened");
    expect(await codeTo(service.dataDir, email)).toMatch(/^\d{6}$/);
    expect(await service.adminJson("account", "show", typed)).toMatchObject({ email });
  });

  it("has a sentence for an email whose letters do not travel by mail", async () => {
    const { token } = await invite("latin@example.com");
    const { headers } = await accept(token, "jörg@example.com");
    expect(headers.location).toBe(`/invitation?token=${token}&problem=letters`);
    const words = "Before the @ of an email, only letters from A to Z without accents, digits and signs";
    expect((await service.ask(String(headers.location))).text).toContain(words);
    const { code, stderr } = await service.admin("invite", "jörg@example.com");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  });

  it("signs in at once by the link of its mail, which proves the address", async () => {
    const { token, url } = await invite("mailed@example.com");
    const { text = "" } = await mailTo(service.dataDir, "mailed@example.com", /invitation/);
    const link = new URL(text.split("\n").find((line) => line.startsWith(url)) ?? "");
    const proof = link.searchParams.get("proof") ?? "";
    expect(proof).toMatch(/^[\w-]{43}$/);
    const page = (await service.ask(link.pathname + link.search)).text;
    expect(page).toContain("This creates your account and signs you in.");
    expect(await service.admin("account", "show", "mailed@example.com"), "opened by a scanner").toMatchObject(
      { code: 1 },
    );
    const post = (email: string) => service.submit("/invitation/accept", { token, proof, email });
    expect((await post("other@example.com")).headers.location).toBe(
      `/invitation?token=${token}&proof=${proof}&problem=foreign-email`,
    );

    const accepted = await post("Mailed@example.com");
    expect([accepted.status, accepted.headers.location]).toEqual([303, "/home"]);
    const cookies = (accepted.headers["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0] ?? "");
    expect(cookies.map((cookie) => cookie.split("=")[0])).toEqual(
      expect.arrayContaining(["office-client", "__session", "office-known"]),
    );
    const headers = { cookie: cookies.filter((cookie) => !cookie.endsWith("=")).join("; ") };
    expect((await service.ask("/home", { headers })).text).toContain("mailed@example.com");
    expect(await codesTo(service.dataDir, "mailed@example.com")).toEqual([]);

    const again = await post("mailed@example.com");
    expect(again.headers.location).toBe(`/invitation?token=${token}&proof=${proof}`);
    expect(again.headers["set-cookie"]?.join()).not.toMatch(/office-client|__session/);
  });

  it("takes no proof but that of its own mail", async () => {
    const proofOf = async (email: string) => {
      await invite(email);
      const { text = "" } = await mailTo(service.dataDir, email, /invitation/);
      return /&proof=([\w-]{43})/.exec(text)?.[1] ?? "";
    };
    const foreign = await proofOf("foreign@example.com");
    for (const [at, proof] of [foreign, "", "x".repeat(43)].entries()) {
      const email = `proof${at}@example.com`;
      const { token } = await invite(email);
      const answer = await service.submit("/invitation/accept", { token, proof, email });
      expect(answer.headers.location).toBe("/sign-in/code?opened");
      expect(answer.headers["set-cookie"]?.join()).not.toMatch(/office-client|__session/);
    }
  });

  it("says why it comes: we invited the person, or the address joined the waitlist", async () => {
    await invite("guest@example.com");
    const guest = (await mailTo(service.dataDir, "guest@example.com", /invitation/)).text;
    expect(guest).toMatch(/^The people who run Corner Office invited you, and your place/);
    expect(guest).toContain("because the people who run Corner Office invited you.");
    expect(guest).toContain("Cost: Nothing. 14 days free, no card, ");
    await service.submit("/waitlist/join", { email: "waiting@example.com" });
    await service.adminJson("waitlist", "invite", "waiting@example.com");
    const waiting = (await mailTo(service.dataDir, "waiting@example.com", /invitation/)).text;
    expect(waiting).toMatch(/^You joined our waitlist, and your place in Corner Office is ready\./);
    expect(waiting).toContain("because this address joined our waitlist.");
    expect(waiting).not.toContain("invited you");
  });

  it("says on its page how many days are free, of a trial that is given by days", async () => {
    const given = [["--trial-days", "1"], [], ["--plan", "licensed"], ["--trial-ends", "2027-06-01"]];
    const said = [];
    for (const [at, terms] of given.entries()) {
      const { token } = await invite(`days${at}@example.com`, ...terms);
      const { text } = await service.ask(`/invitation?token=${token}`);
      expect(text).toContain("this invitation was sent to: it works for no other.");
      said.push(/<strong>([^<]* free, no card\.)<\/strong>/.exec(text)?.[1]);
    }
    expect(said).toEqual(["1 day free, no card.", "14 days free, no card.", undefined, undefined]);
  });

  it("works once, even when two use it at the same moment", async () => {
    const { token } = await invite("once@example.com");
    const answers = await Promise.all([accept(token, "once@example.com"), accept(token, "once@example.com")]);
    const back = `/invitation?token=${token}`;
    expect(answers.map(({ headers }) => headers.location).sort()).toEqual([back, "/sign-in/code?opened"]);
    expect(await heading(token)).toBe("This invitation was already accepted");
    const listed = await service.adminJson<unknown>("account", "list");
    expect((listed as { email: string }[]).filter(({ email }) => email === "once@example.com")).toHaveLength(
      1,
    );
  });

  it("is valid only for the email it was sent to", async () => {
    const { token } = await invite("mine@example.com");
    await invite("yours@example.com");
    const foreign = await accept(token, "yours@example.com");
    expect(foreign.headers.location).toBe(`/invitation?token=${token}&problem=foreign-email`);
    const none = await accept(token, "not an email");
    expect(none.headers.location).toBe(`/invitation?token=${token}&problem=email`);
    expect(await service.admin("account", "show", "yours@example.com")).toMatchObject({ code: 1 });
    expect(await heading(token)).toBe("You are invited");
    expect((await accept(token, "mine@example.com")).headers.location).toBe("/sign-in/code?opened");
  });

  it("expires after its days", async () => {
    const { token } = await invite("late@example.com");
    const [row] = await stage.query("SELECT * FROM invitations WHERE email = 'late@example.com'");
    expect(Number(row?.expires_at_ms) - Number(row?.created_at_ms)).toBe(14 * 24 * 60 * 60 * 1000);
    await stage.query(
      `UPDATE invitations SET expires_at_ms = ${Date.now()} WHERE email = 'late@example.com'`,
    );
    expect((await accept(token, "late@example.com")).headers.location).toBe(`/invitation?token=${token}`);
    expect(await heading(token)).toBe("This invitation has expired");
    expect(await service.admin("account", "show", "late@example.com")).toMatchObject({ code: 1 });
  });

  it("is stored only as a hash", async () => {
    const { token } = await invite("hash@example.com");
    expect(JSON.stringify(await stage.query("SELECT * FROM invitations"))).not.toContain(token);
    expect(service.log).not.toContain(token);
  });

  it("is rolled back completely when its account cannot be created", async () => {
    const { token } = await invite("whole@example.com", "--credits", "1");
    await stage.query("ALTER TABLE onboarding_emails RENAME TO onboarding_emails_away");
    const failed = await accept(token, "whole@example.com");
    await stage.query("ALTER TABLE onboarding_emails_away RENAME TO onboarding_emails");
    expect(failed.headers.location).toBe(
      `/invitation?token=${token}&problem=unavailable&reference=${failed.headers["x-request-id"]}`,
    );
    await eventually(() => expect(service.takeErrors()).toEqual(["unexpected failure"]));
    expect(await service.admin("account", "show", "whole@example.com")).toMatchObject({ code: 1 });
    expect((await accept(token, "whole@example.com")).headers.location).toBe("/sign-in/code?opened");
  });

  it("is refused for an email with an account, and for contradictory terms", async () => {
    await service.adminJson("account", "add", "has@example.com");
    expect(await service.admin("invite", "has@example.com")).toEqual({
      code: 1,
      stdout: "",
      stderr: "invalid_request: There is already an account with this email. Change it with 'account set'.\n",
    });
    const terms = ["--plan", "hobby", "--trial-days", "3"];
    const contradiction = await service.admin("invite", "odd@example.com", ...terms);
    expect(contradiction).toMatchObject({ code: 1, stdout: "" });
    expect(await stage.query("SELECT * FROM invitations WHERE email = 'odd@example.com'")).toEqual([]);
  });
});
