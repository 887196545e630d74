import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSync } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { addAccount } from "@/lib/accounts/joining/invitations";
import type { Db } from "@/lib/db/store";
import { operations } from "@/lib/http/register/operations";
import { findLinkKey } from "@/lib/mail/links/link-keys";
import { mintUnsubscribeToken } from "@/lib/mail/links/unsubscribe-token";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { spawnLeashed } from "@/tests/support/leash";
import { randomFrom } from "@/tests/support/purchases";
import { type Fault, startResendStandIn } from "@/tests/support/resend-stand-in";
import { type Environment, Service } from "@/tests/support/service";

const appSecret = besideDatabaseUrl.APP_SECRET;
const recipients = 100;
const runners = 4;
const unsubscribers = 60;
const dueWithinMs = 6000;
const killEveryMs = 500;
const maxKills = 12; // spread over about the time that the mails take
const downFromMs = 2500;
const downForMs = 2000;

describe.each(engines)(
  "100 recipients, four runners and everything that can go wrong, on $name",
  (engine) => {
    it("delivers nothing after a 200, leaves nothing stuck, and sends nothing twice", {
      timeout: 90_000,
    }, async () => {
      const random = randomFrom(20_261_121);
      const stage = await engine.prepare();
      let startedAtMs = Number.POSITIVE_INFINITY;
      const faults: Fault[] = ["429", "500", "reset", "slow", "silent", "lost", "html"];
      const stand = await startResendStandIn(async () => {
        await sleep(random() * 250);
        const sinceMs = Date.now() - startedAtMs;
        if (sinceMs > downFromMs && sinceMs < downFromMs + downForMs) return "reset";
        return random() < 0.2 ? (faults[Math.floor(random() * faults.length)] ?? "none") : "none";
      });
      const environment = {
        ...stage.environment,
        ...stand.environment,
        APP_URL: "https://office.example.com",
        APP_SECRET: appSecret,
      };
      // The service is a fifth runner. It has the usual timeouts, so its provider has no faults.
      const service = await Service.start({ ...environment, RESEND_BASE_URL: stand.calmUrl });
      onTestFinished(async () => {
        await service.stop({ expectErrors: true });
        await stand.stop();
        await stage.clear();
      });
      const db = await stage.open();
      const emails = Array.from({ length: recipients }, (_, n) => `reader${n}@example.com`);
      const links = await prepare(db, emails);
      await jitter(stage, random);

      startedAtMs = Date.now();
      const end = keepRunnersDying({ PATH: process.env.PATH ?? "", ...environment }, random);
      onTestFinished(() => {
        end();
      });
      const clicks = emails.slice(0, unsubscribers).map(async (email) => {
        await sleep(random() * dueWithinMs);
        const target = links.get(email) ?? "";
        for (let refusals = 0; ; refusals++) {
          const { status } = await service.ask(target, {
            method: "POST",
            body: "List-Unsubscribe=One-Click",
          });
          if (status === 200) return { email, atMs: Date.now(), refusals };
          expect(status).toBe(502);
          await sleep(200);
        }
      });
      const stopped = await Promise.all(clicks);
      const unsettled = () =>
        db
          .selectFrom("onboarding_emails")
          .select("id")
          .where("state", "in", ["scheduled", "sending"])
          .execute();
      const settleBeforeMs = startedAtMs + 50_000;
      while ((await unsettled()).length > 0 && Date.now() < settleBeforeMs) await sleep(200);
      const kills = end();

      expect(await unsettled(), "nothing is stuck").toEqual([]);
      const late = stopped.flatMap(({ email, atMs }) =>
        stand.accepted.filter(({ body, atMs: acceptedAtMs }) => body.to === email && acceptedAtMs > atMs),
      );
      expect(late, "nothing is delivered after a 200").toEqual([]);
      const deliveries = stand.accepted.map(({ body }) => `${body.to} ${body.subject}`);
      expect(new Set(deliveries).size, "nothing is sent twice").toBe(deliveries.length);
      const others = new Set(emails.slice(unsubscribers));
      const delivered = stand.accepted.filter(({ body }) => others.has(body.to)).length;
      expect(delivered, "a recipient who did not unsubscribe gets all five").toBe(5 * others.size);
      const failed = await db
        .selectFrom("onboarding_emails")
        .select("failure")
        .where("state", "=", "failed")
        .execute();
      expect(failed).toEqual([]);
      expect(kills, "it was no quiet run").toBeGreaterThan(10);
      expect(stand.requests - stand.accepted.length).toBeGreaterThan(10);
      const refusals = stopped.reduce((sum, click) => sum + click.refusals, 0);
      process.stdout.write(
        `${engine.name}: ${kills} kills, ${stand.requests} requests, ${stand.accepted.length} mails, ${refusals} answers 502, ${Date.now() - startedAtMs} ms\n`,
      );
    });
  },
);

/** Adds the accounts. Returns the path of each one's one-click link. */
async function prepare(db: Db, emails: string[]): Promise<Map<string, string>> {
  Object.assign(process.env, besideDatabaseUrl);
  const key = await findLinkKey(db);
  const links = new Map<string, string>();
  for (const email of emails) {
    const { id } = await addAccount(db, email, {}, Date.now() + 60 * 60 * 1000);
    links.set(email, `${operations.unsubscribe.path}?token=${mintUnsubscribeToken(key, id)}`);
  }
  return links;
}

/**
 * Makes every mail due at a random moment of the next seconds; to their reader, all at one time, so that none waits for a
 * day after another.
 */
async function jitter({ query }: Stage, random: () => number): Promise<void> {
  const nowMs = Date.now();
  for (const { id } of await query("SELECT id FROM onboarding_emails")) {
    const dueAtMs = nowMs + Math.floor(random() * dueWithinMs);
    await query(
      `UPDATE onboarding_emails SET next_attempt_at_ms = ${dueAtMs}, due_at_ms = ${nowMs} WHERE id = '${id}'`,
    );
  }
}

/** Runs four runners, and keeps killing and replacing one. Returns a function that ends them and returns the kills. */
function keepRunnersDying(environment: Environment, random: () => number) {
  const program = join("dist", "tests", `mail-runner-${process.pid}.js`);
  // Bundled, because resolving each package's files would be half of a runner's work.
  buildSync({
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["pg-native"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    entryPoints: ["tests/support/mail-runner.ts"],
    outfile: program,
  });
  const start = () =>
    spawnLeashed("node", [program], { env: environment as NodeJS.ProcessEnv, stdio: "ignore" });
  const running: ChildProcess[] = Array.from({ length: runners }, start);
  let kills = 0;
  const killing = setInterval(() => {
    const victim = Math.floor(random() * runners);
    running[victim]?.kill("SIGKILL");
    running[victim] = start();
    if (++kills === maxKills) clearInterval(killing);
  }, killEveryMs);
  return () => {
    clearInterval(killing);
    for (const child of running) child.kill("SIGKILL");
    rmSync(program, { force: true });
    return kills;
  };
}
