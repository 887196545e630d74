import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { firstMigration, migrations } from "@/lib/db/migrations";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { startStage } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { buildEarlier } from "@/tests/support/earlier-build";
import { engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";
import { messageIdOf, startSmtpInbox } from "@/tests/support/smtp-inbox";

/** The release before, without its pages. */
const folder = buildEarlier() ?? "";

describe.runIf(folder).each(engines)("this release and the one before, on $name", async (engine) => {
  const stage = await startStage(engine, { isEmpty: true });

  it("serve one store under load, forward and back, send each mail once, and open each other's links and tokens", {
    timeout: 180_000,
  }, async () => {
    const inbox = await startSmtpInbox();
    Object.assign(process.env, besideDatabaseUrl); // for the mail that the test queues
    const environment = {
      ...stage.environment,
      ...besideDatabaseUrl,
      SIGN_IN: "local",
      EMAIL_FROM: "office@example.com",
      SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
    };
    const before = await Service.start(environment, { folder });
    const today = await Service.make(environment);
    const adminBefore = operatorOf(before);
    const added: string[] = [];
    const add = (admin: (...args: string[]) => Promise<unknown>, by: string) => {
      added.push(`${by}-${added.length}@example.com`);
      return admin("account", "add", added.at(-1) ?? "", "--plan", "licensed", "--credits", "5");
    };
    const mailed = (kind: RegExp) => inbox.received.filter(({ raw }) => kind.test(String(raw)));
    const welcomed = () => new Set(mailed(/^Subject: .*[Ww]elcome/m).map(({ to }) => to));

    await before.ready();
    await add(adminBefore, "before");
    const load = startLoad([before], [(await adminBefore("token", "before-0@example.com")).token]);

    // The schema changes while an instance runs.
    const later = Object.keys(migrations).filter((name) => name !== firstMigration);
    expect(await today.admin("--json", "migrate")).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ taken: later }, null, 2)}\n`,
      stderr: `${later.join(", ")}: instances of this release and of the one before go on.\n`,
    });
    await load.go();
    await today.run();
    await today.ready();
    load.instances.push(today);
    load.tokens.push(await today.token("before-0@example.com"));

    // Both queue and send.
    const db = await stage.open();
    const queueNew = (to: string) => {
      const nowMs = Date.now();
      return enqueueMail(db, { kind: "farewell", to, atMs: nowMs }, { nowMs });
    };
    await queueNew("first@example.org");
    for (const [n, service] of [before, today, before, today].entries()) {
      await add(n % 2 ? today.adminJson.bind(today) : adminBefore, n % 2 ? "today" : "before");
      await service.submit("/sign-in/send", { email: added[n] ?? "" }, { from: `127.1.${n}.1` });
    }
    await expect.poll(() => [...welcomed()].sort(), { timeout: 30_000 }).toEqual([...added].sort());
    await expect.poll(() => mailed(/is your sign-in code/).length, { timeout: 30_000 }).toBe(4);

    // Each opens the other's links.
    const { url } = await adminBefore("emails", "unsubscribe-link", added[0] ?? "");
    expect((await today.ask(url.slice(today.url.length), { method: "POST" })).status).toBe(200);
    const path = await today.unsubscribePath(added[1] ?? "");
    expect((await before.ask(path, { method: "POST" })).status).toBe(200);
    const suppressed = "SELECT count(*) AS number FROM email_suppressions";
    expect((await stage.query(suppressed)).map(({ number }) => Number(number))).toEqual([2]);
    await load.go();

    // Back: the release before goes on, and leaves or puts off what it does not know.
    load.instances.pop();
    await today.stop();
    await queueNew("second@example.org");
    await add(adminBefore, "before");
    await expect.poll(() => welcomed().has(added.at(-1) ?? ""), { timeout: 30_000 }).toBe(true);
    await load.go();
    expect(mailed(/second@example.org/)).toEqual([]);

    // And forward again.
    await today.run();
    load.instances[0] = today;
    await before.stop({ expectErrors: true }); // of the mails that it cannot open
    // Each time that the release before took one of them it put it off for twice as long.
    await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0");
    for (const to of [/first@example.org/, /second@example.org/])
      await expect.poll(() => mailed(to).length, { timeout: 30_000 }).toBe(1);
    await load.go();
    expect(load.failures).toEqual([]);
    expect((await today.adminJson<unknown[]>("account", "list")).length).toBe(added.length);
    const ids = inbox.received.map(messageIdOf);
    expect(new Set(ids).size, "mails that were sent twice").toBe(ids.length);
    await today.stop();
    await inbox.stop();
  });

  it("back up and restore: today's takes the backup of the one before, and opens its links and tokens", {
    timeout: 90_000,
  }, async () => {
    const file = join(createFolder(), "office.backup");
    const prepare = async () => {
      const { environment, clear } = await engine.prepare({ isEmpty: true });
      onTestFinished(clear);
      return {
        ...environment,
        ...besideDatabaseUrl,
        SIGN_IN: "local",
        BACKUP_PASSPHRASE: "correct horse battery staple",
      };
    };
    const before = await Service.start(await prepare(), { folder });
    const adminBefore = operatorOf(before);
    const email = "ceo@example.com";
    await adminBefore("account", "add", email, "--plan", "licensed", "--credits", "5");
    const { token } = await adminBefore("token", email);
    const { url } = await adminBefore("emails", "unsubscribe-link", email);
    await adminBefore("backup", file);
    await before.stop();

    const today = await Service.make(await prepare());
    expect(await today.admin("--json", "restore", file)).toMatchObject({ code: 0, stderr: "" });
    await today.run();
    await today.ready();
    const headers = { authorization: `Bearer ${token}` };
    const balance = await today.ask("/api/credits/balance", { headers });
    expect([balance.status, balance.text]).toEqual([200, '{"credits":5}']);
    const link = url.slice(before.url.length);
    expect((await today.ask(link, { method: "POST" })).status).toBe(200);
    await today.stop();
  });
});

/** What runs a command of a service's own release, and reads its JSON. */
const operatorOf =
  (service: Service) =>
  async (...args: string[]) => {
    const ran = await service.execute(["dist/admin/main.js", "--json", ...args]);
    expect(ran).toMatchObject({ code: 0 });
    return JSON.parse(ran.stdout);
  };

/** Asks instances in turn for accounts, and what strangers ask, until the test has ended. */
function startLoad(instances: Service[], tokens: string[]) {
  const paths = ["/api/entitlement", "/api/credits/balance", "/api/site-banner"];
  const failures: string[] = [];
  let [answers, isOver] = [0, false];
  const ask = async () => {
    while (!isOver) {
      const n = answers++;
      const path = paths[n % paths.length] ?? "";
      const headers = { authorization: `Bearer ${tokens[n % tokens.length]}` };
      const from = `127.2.${n % 250}.1`;
      const status = await instances[n % instances.length]?.ask(path, { headers, from }).then(
        (answer) => answer.status,
        (failure: Error) => failure.message,
      );
      if (status !== 200 && !isOver) failures.push(`${path}: ${status}`);
      await sleep(5);
    }
  };
  const asking = [ask(), ask()];
  onTestFinished(async () => {
    isOver = true;
    await Promise.all(asking);
  });
  /** Goes on for so many answers. */
  const go = (more = 100) => {
    const until = answers + more;
    return expect.poll(() => answers, { timeout: 60_000 }).toBeGreaterThan(until);
  };
  return { instances, tokens, failures, go };
}
