import type { KyselyPlugin } from "kysely";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { onboardingOutbox } from "@/lib/mail/outbox/onboarding-outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { startService, startStage } from "@/tests/support/block";
import { certificate, trust } from "@/tests/support/certificate";
import { makeClock } from "@/tests/support/clock";
import { expectAnswer, expectRefusal } from "@/tests/support/contract";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { writeDueMails } from "@/tests/support/due-mails";
import { engines } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";
import { startResendStandIn } from "@/tests/support/resend-stand-in";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

type Listed = { id: string; kind: string; state: string; failure?: string };
const list = (service: Service, email: string) => service.adminJson<Listed[]>("emails", "list", email);
const leaseMs = 15_000;
const world = { APP_URL: "https://office.example.com" };

// For the runners in this process.
process.env.APP_SECRET = besideDatabaseUrl.APP_SECRET;

it("an onboarding mail waits three times as long after each failure, up to four hours", () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7].map((attempts) => onboardingOutbox.retryAfterMs(attempts) / 60_000);
  expect(minutes).toEqual([1, 3, 9, 27, 81, 240, 240]);
});

it("a mail whose turn comes too late for its lease waits, and the log blames no store", async () => {
  const [engine = expect.fail("there is no engine")] = engines;
  const stage = await engine.prepare();
  const due = [1, 2].map((n) => ({
    id: `mail-${n}`,
    kind: "k",
    attempts: 1,
    leaseUntilMs: 0,
    triedUntilMs: Infinity,
  }));
  const failures: (string | undefined)[] = [];
  let lateMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + lateMs);
  onTestFinished(() => void vi.restoreAllMocks());
  await sendDueMails(await stage.open(), new RecordingSender(), {
    maxConcurrent: 2,
    minIntervalMs: 0,
    retryAfterMs: () => 0,
    claim: async (_db, { limit }) => (due.length > 0 ? due.splice(0, limit) : undefined),
    async address() {
      lateMs = 3000; // while the first is addressed; the second begins after that
      return { to: "ceo@example.com", send: async () => undefined };
    },
    async record(_db, _mail, { failure }) {
      failures.push(failure?.message);
    },
  });
  expect(failures.sort()).toEqual(["its turn came too late", "the store was too slow"]);
  await stage.clear();
});

describe("a mail that is due", () => {
  it("is sent to an SMTP server over TLS by `emails send-due` while no server runs", async () => {
    const inbox = await startSmtpInbox({ ...certificate(), secure: true });
    const service = await Service.make({
      ...world,
      EMAIL_FROM: "Corner Office <office@example.com>",
      SMTP_URL: `smtps://localhost:${inbox.port}`,
      NODE_EXTRA_CA_CERTS: trust(),
    });
    await service.adminJson("migrate");
    await service.adminJson("account", "add", "ceo@example.com");
    expect(await service.adminJson("emails", "send-due")).toEqual({ sent: 1, toRetry: 0, failed: 0 });
    expect(await service.adminJson("emails", "send-due")).toEqual({ sent: 0, toRetry: 0, failed: 0 });
    expect(inbox.received).toMatchObject([
      { from: "office@example.com", to: "ceo@example.com", secure: true },
    ]);
    expect((await list(service, "ceo@example.com")).map(({ state }) => state)).toEqual([
      "sent",
      ...onboardingKinds.slice(1).map(() => "scheduled"),
    ]);
    await inbox.stop();
  });

  it("fails visibly after a permanent refusal, and is retried later after a temporary failure", async () => {
    const stand = await startResendStandIn();
    const service = await Service.make({ ...world, ...stand.environment });
    await service.adminJson("migrate");
    stand.fault = "422";
    await service.adminJson("account", "add", "refused@example.com");
    expect(await service.adminJson("emails", "send-due")).toEqual({ sent: 0, toRetry: 0, failed: 1 });
    expect((await list(service, "refused@example.com"))[0]).toMatchObject({
      state: "failed",
      failure: "resend: 422 validation_error",
    });
    stand.fault = "500";
    await service.adminJson("account", "add", "later@example.com");
    expect(await service.adminJson("emails", "send-due")).toEqual({ sent: 0, toRetry: 1, failed: 0 });
    stand.fault = "none";
    expect(await service.adminJson("emails", "send-due")).toEqual({ sent: 0, toRetry: 0, failed: 0 });
    expect((await list(service, "later@example.com"))[0]).toMatchObject({
      state: "scheduled",
      failure: "resend: 500 internal_server_error",
    });
    const { stdout } = await service.admin("emails", "list", "refused@example.com");
    expect(stdout).toMatch(/^id +kind +dueAt +state +failure$/m);
    expect(stdout).toMatch(/welcome .* failed +resend: 422 validation_error$/m);
    await stand.stop();
  });

  it("is reported by `check`, as is a sender that does not answer", async () => {
    const stand = await startResendStandIn();
    const service = await Service.make({ ...world, ...stand.environment });
    expect(await service.check("mail")).toMatchObject({ works: true, detail: "Resend answers" });
    await stand.stop();
    expect(await service.check("mail")).toMatchObject({ works: false, detail: "resend: no answer" });
  });
});

describe.each(engines)("four runners on $name", async (engine) => {
  const stage = await startStage(engine);
  const ofDeletedAccounts = 20;
  const ofAccounts = 80;

  it("continue past mails of deleted accounts until none is due, and send each mail once", async () => {
    const instances = await Promise.all(Array.from({ length: 4 }, stage.open));
    await writeDueMails(stage, { from: 0, to: ofDeletedAccounts + ofAccounts });
    await stage.query(`DELETE FROM accounts WHERE CAST(substr(id, 5) AS INTEGER) < ${ofDeletedAccounts}`);
    const mailSender = new RecordingSender();
    mailSender.whileSending = () => new Promise((resolve) => setTimeout(resolve, 20));
    const tallies = await Promise.all(instances.map((db) => sendDueMails(db, mailSender, onboardingOutbox)));
    expect(tallies.reduce((sum, { sent }) => sum + sent, 0)).toBe(ofAccounts);
    for (const { sent } of tallies) expect(sent).toBeGreaterThan(5);
    expect(mailSender.sent).toHaveLength(ofAccounts);
    expect(new Set(mailSender.sent.map(({ to }) => to)).size).toBe(ofAccounts);
    expect(await stage.query("SELECT id FROM onboarding_emails WHERE state = 'scheduled'")).toEqual([]);
  });
});

describe.each(engines)("a runner on $name", (engine) => {
  it("leaves a mail for its next claim if the claim took so long that its lease could end first", async () => {
    const stage = await engine.prepare();
    await writeDueMails(stage, { from: 0, to: 1 });
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + aheadMs);
    onTestFinished(() => {
      clock.mockRestore();
      return stage.clear();
    });
    const slowClaim: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind === "UpdateQueryNode") aheadMs = 3000;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const db = (await stage.open()).withPlugin(slowClaim);
    const mailSender = new RecordingSender();
    expect(await sendDueMails(db, mailSender, onboardingOutbox)).toMatchObject({ toRetry: 1, failed: 0 });
    await eventually(async () => {
      await sendDueMails(db, mailSender, onboardingOutbox);
      expect(mailSender.sent).toHaveLength(1);
    });
  });
});

describe.each(engines)("while a mail is being sent, on $name", async (engine) => {
  const clock = makeClock();
  /** The provider answers once this resolves. */
  let held = Promise.resolve();

  const stage = await startStage(engine);
  const stand = await startResendStandIn(async () => {
    await held;
    return stand.fault;
  });
  afterAll(() => stand.stop());
  const environment = { ...stage.environment, ...world, ...stand.environment, ...clock.environment };
  const service = await startService(environment, { expectErrors: true });

  const click = (target: string) =>
    service.ask(target, { method: "POST", body: "List-Unsubscribe=One-Click" });

  /** Adds an account and waits until its first mail reaches the provider, which answers with `fault`. */
  async function inFlight(email: string, fault: typeof stand.fault) {
    stand.fault = fault;
    const before = stand.requests;
    await service.adminJson("account", "add", email);
    const target = await service.unsubscribePath(email);
    await eventually(() => expect(stand.requests).toBeGreaterThan(before));
    return target;
  }

  it("an unsubscribe answers 502 while the delivery is unknown, also after a kill, and 200 once the lease has expired", async () => {
    const target = await inFlight("silent@example.com", "silent");
    const startedAtMs = Date.now();
    expectRefusal(service, await click(target), { status: 502, code: "upstream_failed" });
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(1500);
    expect(Date.now() - startedAtMs, "it does not wait for the lease to expire").toBeLessThan(10_000);

    await service.kill();
    stand.fault = "none";
    await service.run();
    expectRefusal(service, await click(target), { status: 502, code: "upstream_failed" });
    clock.pass(leaseMs);
    expectAnswer(service, operations.unsubscribe, await click(target), 200);
    await service.adminJson("emails", "send-due");
    expect(stand.accepted.map(({ body }) => body.to)).not.toContain("silent@example.com");
    expect((await list(service, "silent@example.com")).map(({ state }) => state)).toEqual(
      onboardingKinds.map(() => "stopped"),
    );
  });

  it("a stop of the service waits until the mail is delivered", async () => {
    if (!service.isRunning) await service.run();
    const email = `${crypto.randomUUID()}@example.com`;
    // Waits until the log lines of the earlier tests are written.
    const id = crypto.randomUUID();
    await service.ask(operations.health.path, { headers: { "x-request-id": id } });
    await eventually(() => expect(service.log).toContain(id));
    service.takeErrors();
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    held = promise;
    await inFlight(email, "none");
    const stopped = service.stop();
    await eventually(() => expect(service.ask(operations.health.path)).rejects.toThrow("ECONNREFUSED"));
    expect(stand.accepted.map(({ body }) => body.to)).not.toContain(email);
    goOn();
    expect(await stopped).toBe(0);
    expect(stand.accepted.map(({ body }) => body.to)).toContain(email);
    expect((await list(service, email))[0]?.state).toBe("sent");
  });
});
