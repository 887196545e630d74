import type { UserJSON, WebhookEvent } from "@clerk/backend";
import { afterAll, describe, expect, it } from "vitest";
import { onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { startService, startStage } from "@/tests/support/block";
import { ClerkInstance, makeDeletedUser, makeUser } from "@/tests/support/clerk-instance";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { laterStates } from "@/tests/support/due-mails";
import { engines } from "@/tests/support/engines";

type Event = Pick<WebhookEvent, "type" | "data">;

const mailsOfUser = onboardingKinds.length + 1; // and the invitation's

describe.each(engines)("POST /hooks/clerk on $name", async (engine) => {
  const stage = await startStage(engine);
  const clerk = await ClerkInstance.start();
  afterAll(() => clerk.stop());
  const settings = { ...stage.environment, ...clerk.environment };
  const service = await startService(settings, { expectErrors: true });

  let users = 0;
  /** The events of an invited user, in order. */
  function makeEvents() {
    const n = ++users;
    const [id, invited, moved] = [`user_${n}`, `invited-${n}@example.com`, `moved-${n}@example.com`];
    return {
      id,
      invited,
      moved,
      created: { type: "user.created", data: makeUser(id, invited, 1000) } as Event,
      updated: { type: "user.updated", data: makeUser(id, moved, 2000) } as Event,
      deleted: { type: "user.deleted", data: makeDeletedUser(id) } as Event,
    };
  }

  async function deliver(...events: Event[]): Promise<void> {
    for (const event of events) {
      const { status, text } = await clerk.deliver(service, event);
      expect(status, text).toBe(204);
    }
  }

  const invite = (email: string, ...terms: string[]) =>
    service.adminJson<{ url: string }>("invite", email, ...terms);

  /** Everything stored about a user, except ids and times. */
  async function stateOf({ id, invited, moved }: { id: string; invited: string; moved: string }) {
    const theirs = `email IN ('${invited}', '${moved}')`;
    const accounts = await stage.query(
      `SELECT subject, email, plan, credit_thousandths,
              (SELECT count(*) FROM onboarding_emails WHERE account_id = accounts.id) AS emails,
              (SELECT count(*) FROM credit_entries WHERE account_id = accounts.id) AS entries
         FROM accounts WHERE ${theirs} OR subject = '${id}'`,
    );
    const invitations = await stage.query(
      `SELECT email, accepted_at_ms IS NULL AS is_open FROM invitations WHERE ${theirs}`,
    );
    return JSON.stringify({ accounts, invitations }).replaceAll(/(user_|invited-|moved-)\d+/g, "$1n");
  }

  it("creates the account of an invited user on the operator's terms", async () => {
    const user = makeEvents();
    const terms = ["--plan", "licensed", "--assistant-limit", "3", "--credits", "5"];
    const { url } = await invite(user.invited, ...terms);
    expect(url).toBe("https://clerk.example.com/v1/tickets/accept?ticket=abc");
    expect(clerk.requests.splice(0)).toEqual([
      {
        method: "POST",
        path: "/v1/invitations",
        body: {
          email_address: user.invited,
          redirect_url: "http://localhost:3000/invitation",
          expires_in_days: 14,
          ignore_existing: true,
        },
      },
    ]);
    const token = clerk.mint({ sub: user.id });
    expect(await service.statusFor(token)).toBe(403);

    await deliver(user.created);
    expect(await service.adminJson("account", "show", user.invited)).toMatchObject({
      subject: user.id,
      plan: "licensed",
      assistantLimit: 3,
      credits: 5,
    });
    expect(await service.adminJson("emails", "list", user.invited)).toHaveLength(mailsOfUser);
    expect(await service.statusFor(token)).toBe(200);
  });

  // clerk/javascript#1507; Convex's integration has Clerk name it in every session token
  it("leaves an instance's tokens valid that name the audience of another service", async () => {
    const user = makeEvents();
    await invite(user.invited, "--plan", "licensed");
    await deliver(user.created);
    for (const aud of ["convex", ["convex", "atlas"], null, 7]) {
      const token = clerk.mint({ sub: user.id, aud });
      expect(await service.statusFor(token), JSON.stringify(aud)).toBe(200);
      const { status } = await service.ask("/home", { headers: { cookie: `__session=${token}` } });
      expect(status, "the page").toBe(200);
    }
    const template = clerk.mint({ sub: user.id, aud: "convex" }, { header: { cat: "cl_B7d4PD222AAA" } });
    expect(await service.statusFor(template)).toBe(401);
    expect(await service.statusFor(clerk.mint({ sub: user.id, azp: "" }))).toBe(200);
  });

  // Svix delivers again for 28 hours, and whatever failed when an operator asks for it.
  it("accepts an invitation that was used in time though the delivery comes after its end, and no other", async () => {
    const dayMs = 24 * 60 * 60 * 1000;
    const endMs = Date.now() - dayMs;
    const told: [what: string, updatedAtMs: number, status: number][] = [
      ["used in time", endMs - 1, 200],
      ["used too late", endMs, 403],
      ["not used since it was sent", endMs - 15 * dayMs, 403],
    ];
    for (const [what, updatedAtMs, status] of told) {
      const user = makeEvents();
      await invite(user.invited, "--plan", "licensed");
      await stage.query(
        `UPDATE invitations SET created_at_ms = ${endMs - 14 * dayMs}, expires_at_ms = ${endMs}
          WHERE email = '${user.invited}'`,
      );
      await deliver({ type: "user.created", data: makeUser(user.id, user.invited, updatedAtMs) } as Event);
      expect(await service.statusFor(clerk.mint({ sub: user.id })), what).toBe(status);
    }
  });

  it("lets in who was erased and is invited again with the same user, and bans, deletes and erases them again", async () => {
    const user = makeEvents();
    const told = (updatedAtMs: number, more = {}): Event => {
      const data = { ...makeUser(user.id, user.invited, updatedAtMs), ...more };
      return { type: "user.updated", data } as Event;
    };
    const status = () => service.statusFor(clerk.mint({ sub: user.id }));
    const erase = () => service.adminJson("--yes", "person", "erase", user.invited);
    await invite(user.invited, "--plan", "licensed");
    await deliver(user.created);
    await erase();
    const erasedAtMs = Date.now();
    await deliver(told(erasedAtMs));
    expect(await status(), "late").toBe(403);
    await invite(user.invited, "--plan", "licensed");
    await deliver(told(erasedAtMs));
    expect(await status(), "of before the invitation").toBe(403);
    const backAtMs = Date.now();
    await deliver(told(backAtMs));
    expect(await status(), "back").toBe(200);
    await deliver(told(backAtMs + 1, { banned: true }));
    expect(await status(), "banned").toBe(401);
    await deliver(told(backAtMs + 2));
    expect(await status(), "and not any more").toBe(200);
    await erase();
    await deliver(told(backAtMs + 3));
    expect(await status(), "erased again").toBe(403);
    await invite(user.invited, "--plan", "licensed");
    await deliver(told(Date.now()), user.deleted);
    expect(await stage.query(`SELECT id FROM accounts WHERE email = '${user.invited}'`)).toEqual([]);
  });

  it("results in the same state for every order and repetition of events", async () => {
    type Name = "created" | "updated" | "deleted";
    const orders = (names: Name[]): Name[][] =>
      names.length < 2
        ? [names]
        : names.flatMap((name, at) => orders(names.toSpliced(at, 1)).map((rest) => [name, ...rest]));

    for (const names of [["created", "updated"] as Name[], ["created", "updated", "deleted"] as Name[]]) {
      const states = new Set<string>();
      for (const order of orders(names)) {
        const user = makeEvents();
        await invite(user.invited, "--credits", "5");
        const events = order.map((name) => user[name]);
        await deliver(...events, ...events);
        states.add(await stateOf(user));
      }
      expect(states.size, [...states].join("\n")).toBe(1);
    }
  });

  it("results in the same state for an account that the operator added before", async () => {
    const states = new Set<string>();
    for (const order of [
      ["created", "updated"],
      ["updated", "created"],
    ] as const) {
      const user = makeEvents();
      await service.adminJson("account", "add", user.invited, "--plan", "hobby");
      await deliver(...order.map((name) => user[name]));
      expect(await service.adminJson("account", "show", user.moved)).toMatchObject({ subject: user.id });
      states.add(await stateOf(user));
    }
    expect(states.size, [...states].join("\n")).toBe(1);
  });

  it.each([
    ["an address with letters of other scripts", [{ email_address: "用户@例え.jp" }]],
    ["an address without a verification", [{ id: "idn_2", email_address: "x@example.com" }]],
    ["an address that is a number", [7, null]],
  ])("changes the email of an account, although its user has %s too", async (_, others) => {
    const user = makeEvents();
    await invite(user.invited);
    await deliver(user.created);
    const { data } = user.updated as { data: UserJSON };
    const email_addresses = [...others, ...data.email_addresses] as UserJSON["email_addresses"];
    await deliver({ type: "user.updated", data: { ...data, email_addresses } });
    expect(await service.adminJson("account", "show", user.moved)).toMatchObject({ subject: user.id });
  });

  it("gives an account the email that its user has in another script, as mail writes it", async () => {
    const user = makeEvents();
    await invite(user.invited);
    await deliver(user.created, {
      type: "user.updated",
      data: makeUser(user.id, "O'Brien/1@München.example", 2000),
    });
    const email = "o'brien/1@xn--mnchen-3ya.example";
    expect(await service.adminJson("account", "list")).toContainEqual(expect.objectContaining({ email }));
  });

  it("creates one account for concurrent deliveries", async () => {
    const user = makeEvents();
    await invite(user.invited, "--credits", "5");
    const answers = await Promise.all([1, 2, 3, 4].map(() => clerk.deliver(service, user.created)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await service.adminJson("credits", "history", user.invited)).toHaveLength(1);
  });

  it("changes the email of an account, unless another account has it", async () => {
    const [user, other] = [makeEvents(), makeEvents()];
    for (const { invited } of [user, other]) await invite(invited);
    await deliver(user.created, other.created, user.updated);
    expect(await service.adminJson("account", "show", user.moved)).toMatchObject({ subject: user.id });
    await deliver({ type: "user.updated", data: makeUser(other.id, user.moved, 3000) });
    expect(await service.adminJson("account", "show", other.invited)).toMatchObject({ subject: other.id });
  });

  it.each([
    ["one that leaves it", ["c", "b"]],
    ["one that takes its own, by way of a third", ["a", "b"]],
    ["one that is deleted", [undefined, "b"]],
  ])(
    "gives an email to its user in whatever order %s and that user are reported",
    async (_, [second, first]) => {
      for (const isReversed of [false, true]) {
        const [one, other] = [makeEvents(), makeEvents()];
        const addresses: Record<string, string> = { a: one.invited, b: other.invited, c: other.moved };
        for (const { invited } of [one, other]) await invite(invited);
        await deliver(one.created, other.created);
        const move = (id: string, to: string | undefined) =>
          to === undefined
            ? other.deleted
            : ({ type: "user.updated", data: makeUser(id, addresses[to] ?? "", 3000) } as Event);
        const events = [move(other.id, second), move(one.id, first)];
        await deliver(...(isReversed ? events.reverse() : events));
        const subjectAt = async (letter: string) =>
          (await stage.query(`SELECT subject FROM accounts WHERE email = '${addresses[letter]}'`))[0]
            ?.subject;
        expect(await subjectAt("b")).toBe(one.id);
        if (second) expect(await subjectAt(second)).toBe(other.id);
      }
    },
  );

  it.each([
    ["another user", { id: "org_1" }, "id"],
    ["a time that is none", { updated_at: 1e300 }, "updated_at"],
    ["a ban that is none", { banned: "perhaps" }, "banned"],
  ])(
    "answers 400 to a delivery with data of %s, with a line in the log, and the audit can be listed",
    async (_, part, field) => {
      const user = makeEvents();
      await invite(user.invited);
      await deliver(user.created);
      const data = { ...makeUser(user.id, user.moved, 4000), ...part } as Event["data"];
      const refused = await clerk.deliver(service, { type: "user.updated", data } as Event);
      expectRefusal(service, refused, { status: 400, code: "invalid_request" });
      await eventually(() =>
        expect(service.log).toContain(`"fields":["${field}"],"msg":"a delivery was refused`),
      );
      expect(await service.admin("audit", "list")).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it("lists an audit that has a time that is none", async () => {
    await stage.query(
      `INSERT INTO audit_entries (id, at_ms, who, what, whom, "after") VALUES ('odd', ${Date.now()}, 'clerk', 'user update', 'x', '{"updated_at_ms":1e300}')`,
    );
    const { code, stdout } = await service.admin("audit", "list");
    expect([code, stdout]).toEqual([0, expect.stringContaining("updated at 1e+300")]);
  });

  it("keeps an account with its user if another user verifies the same email later", async () => {
    const [user, other] = [makeEvents(), makeEvents()];
    await invite(user.invited);
    await deliver(user.created);
    await deliver({ type: "user.created", data: makeUser(other.id, user.invited, 3000) });
    expect(await service.adminJson("account", "show", user.invited)).toMatchObject({ subject: user.id });
    expect(await service.statusFor(clerk.mint({ sub: other.id }))).toBe(403);
  });

  it("keeps an unsubscribe when the email changes", async () => {
    const user = makeEvents();
    await invite(user.invited);
    await deliver(user.created);
    const path = await service.unsubscribePath(user.invited);
    expect((await service.ask(path, { method: "POST" })).status).toBe(200);
    await deliver(user.updated);
    await service.adminJson("account", "delete", user.moved);
    await service.adminJson("account", "add", user.moved);
    expect(await laterStates(stage, user.moved)).toEqual(["stopped"]);
  });

  it("creates no account for a user without an invitation or a verified email", async () => {
    const [stranger, unverified] = [makeEvents(), makeEvents()];
    await invite(unverified.invited);
    await deliver(stranger.created, {
      type: "user.created",
      data: makeUser(unverified.id, unverified.invited, 1000, "unverified"),
    });
    for (const { invited } of [stranger, unverified]) {
      expect(await service.admin("account", "show", invited)).toMatchObject({ code: 1 });
    }
  });

  it("ignores other events", async () => {
    await deliver({ type: "session.created", data: {} } as unknown as Event);
  });

  it("answers 400 to a delivery that is not signed with our secret, and changes nothing", async () => {
    const user = makeEvents();
    await invite(user.invited);
    const forger = await ClerkInstance.start();
    const refused = await forger.deliver(service, user.created);
    await forger.stop();
    expectRefusal(service, refused, { status: 400, code: "invalid_signature" });
    expect(await service.admin("account", "show", user.invited)).toMatchObject({ code: 1 });
  });

  it("answers 503 if the store fails, and processes the retry", async () => {
    const user = makeEvents();
    await invite(user.invited);
    await stage.query("ALTER TABLE onboarding_emails RENAME TO onboarding_emails_away");
    const failed = await clerk.deliver(service, user.created);
    await stage.query("ALTER TABLE onboarding_emails_away RENAME TO onboarding_emails");
    expectRefusal(service, failed, { status: 503, code: "unavailable" });
    await deliver(user.created);
    expect(await service.adminJson("emails", "list", user.invited)).toHaveLength(mailsOfUser);
  });

  it("asks Clerk for 100 invitations an hour, and queues the others", async () => {
    await stage.query("DELETE FROM sign_in_mail_attempts");
    const emails = Array.from({ length: 104 }, (_, n) => `many-${n}@example.com`);
    await stage.query(
      `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state) VALUES ${emails
        .slice(0, 99)
        .map((email) => `('${email}', '${email}', 'clerk invitation', ${Date.now()}, 'sent')`)
        .join(", ")}`,
    );
    const [last = "", first = "", second = "", gone = "", busy = ""] = emails.slice(99);
    expect((await invite(last)).url).toContain("ticket=");
    const asked = clerk.requests.length;
    for (const email of [first, second, gone]) expect(await invite(email)).toEqual({ email, url: null });
    expect(clerk.requests.length).toBe(asked);
    const waiting = await stage.query("SELECT next_attempt_at_ms AS at FROM sign_in_mails");
    expect(waiting.map(({ at }) => Math.round((Number(at) - Date.now()) / 600_000))).toEqual([6, 6, 6]);
    const { facts } = await service.adminJson<{ facts: object }>("explain", first);
    expect(facts).toMatchObject({ lastMail: expect.stringContaining("Clerk takes 100 invitations an hour") });
    await stage.query(`DELETE FROM invitations WHERE email = '${gone}'`);
    // An hour later.
    await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
    await eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    const invited = clerk.requests.slice(asked).map(({ body }) => String(body.email_address));
    expect(invited.toSorted()).toEqual([first, second]);
    // Clerk counts others, too.
    clerk.fault = "busy";
    expect((await invite(busy)).url).toBeNull();
    clerk.fault = undefined;
    await stage.query("DELETE FROM sign_in_mails");
    await stage.query("DELETE FROM sign_in_mail_attempts");
  });

  it.each([
    ["hang", /^upstream_failed: Clerk could not be reached, or did not answer in time\. /],
    ["refuse", /^upstream_failed: Clerk refused \(422\): is invalid\. /],
    ["break", /^upstream_failed: Clerk could not be reached, or did not answer in time\. /],
    ["forbid", /^upstream_failed: Clerk does not accept our CLERK_SECRET_KEY\. /],
    ["fail", /^upstream_failed: Clerk failed \(500\)\. /],
  ] as const)("keeps no invitation if Clerk's API fails: %s", async (fault, words) => {
    clerk.fault = fault;
    const { code, stdout, stderr } = await service.admin("invite", `${fault}@example.com`);
    clerk.fault = undefined;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(words);
    expect(await stage.query(`SELECT id FROM invitations WHERE email = '${fault}@example.com'`)).toEqual([]);
  });
});
