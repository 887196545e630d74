import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import PostalMime from "postal-mime";
import { describe, expect, it } from "vitest";
import { backendRoutes } from "@/lib/backend/addresses";
import { ownerForms } from "@/lib/http/register/forms";
import type { Route } from "@/lib/http/route";
import { officePages } from "@/lib/office/routes";
import { type Act, acts, makeWorld, type Send, toldByStripe, tried } from "@/tests/support/acts";
import { withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { reservePort } from "@/tests/support/port";
import type { Answer } from "@/tests/support/service";
import { describeChanges, Names, readWhole, restoreWhole } from "@/tests/support/whole-store";

/*
 * Each act of `tests/support/acts.ts` on one of two owners who have the same: all that it writes of anyone, once and again, is in a
 * file of `acts/`, and what comes of two at once is what came of one after the other.
 */

/** Why a form or a write has no act. */
const notTried: Record<string, string> = {
  "/home/appearance": "stores nothing",
  "/home/export": "only reads",
  "/home/portal": "opens a page at Stripe",
  "/home/passkeys/options": "stores nothing but a challenge",
  "/home/passkeys/add": "takes an authenticator's answer to such a challenge, once",
  "/account/export": "only reads",
  "/accounts/change": "does for each what the form of one does",
  "/mails/retry": "is about no one owner",
};
/** Those of the office's other pages, which are about no owner. */
const ofNoOwner = /^\/(announcement|backends|plans|waiting|webhooks)\//;

/** What two come to at once that they do not one after the other. */
const otherwise: Record<string, string> = {
  "leaves, buys credits": "the checkout is closed when Stripe is read next",
  "deletes the account, deletes the account": "both delete the customer at Stripe, and say so",
  "deletes the account, buys credits": "it is the account that is gone, and not only the session",
};

const written = Object.keys(acts).filter((name) => !toldByStripe.has(actOf(name).prepare));
const pairs = Object.entries(acts)
  .flatMap(([name, { meets = [] }]) => [name, ...meets].map((other) => [name, other] as const))
  .filter((pair) => !(pair.join(", ") in otherwise));

/** What acts came to: what was answered, all rows that are not as they were, and the mails. */
type Outcome = { answers: Record<string, string[]>; changes: string[]; mails?: string[] };

describe("of two owners with the same things, one", async () => {
  const [engine = expect.fail("no engine")] = everyEngine;
  const clock = makeClock(Date.UTC(2027, 2, 1, 12));
  const shop = await startShop(
    engine,
    await withBackendApi({ OFFICE_PORT: String(await reservePort()), ...clock.environment }),
    { conflicts: false },
  );
  const { service, stage, stripe } = shop;
  stripe.nowMs = clock.now;
  const world = await makeWorld(shop);
  const was = await readWhole(stage);
  const names = new Names(was);
  const resetStripe = stripe.copy();
  const owners = [world.one, world.other].map((owner) => ({
    owner,
    cookies: new Map(owner.browser.cookies),
  }));
  const mailFolder = join(service.dataDir, "mail");

  /** Makes all what it was, with browsers that no limit knows. */
  async function begin(): Promise<void> {
    // Those that the service has begun to send are recorded first.
    await stage.query("DELETE FROM sign_in_mails WHERE attempts = 0 RETURNING id");
    await eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    await restoreWhole(stage, was);
    resetStripe();
    for (const { owner, cookies } of owners) {
      owner.browser = new Browser(service);
      for (const name of ["__session", "office-client"])
        owner.browser.cookies.set(name, cookies.get(name) ?? "");
    }
  }

  /** Sends the mails that wait. */
  async function settle(): Promise<void> {
    if ((await stage.query("SELECT id FROM sign_in_mails")).length > 0) await shop.sendDue();
  }

  let mailedBefore: string[] = [];
  /** Does what the steps name, in each all at once. */
  async function tryOut(...steps: string[][]): Promise<Outcome> {
    await begin();
    const named = [...new Set(steps.flat())];
    const earlier = new Set(named.flatMap((name) => actOf(name).after ?? []));
    for (const name of earlier) await (await actOf(name).prepare(world))();
    await settle();
    mailedBefore = readdirSync(mailFolder);
    const before = earlier.size > 0 ? await readWhole(stage) : was;
    const sends = new Map<string, Send>();
    for (const name of named) sends.set(name, await actOf(name).prepare(world));
    const answers: Outcome["answers"] = {};
    for (const step of steps) {
      const letGo = step.length > 1 ? await holdWrites() : undefined;
      const done = step.map(async (name) => [name, await sends.get(name)?.()] as const);
      await letGo?.();
      for (const [name, answer] of await Promise.all(done))
        answers[name] = [...(answers[name] ?? []), describeAnswer(answer)].sort();
    }
    const all = describeChanges(before, await readWhole(stage), names);
    // Spends that share a transaction are told as one.
    const changes = all.filter(
      (change) => named.length === 1 || !/^\+ events.*credits\.changed/s.test(change),
    );
    return { answers, changes };
  }

  const known = new Map<string, Promise<Outcome>>();
  /** Does one after the other. */
  function inTurn(one: string, other: string): Promise<Outcome> {
    const key = `${one}, ${other}`;
    const outcome = known.get(key) ?? tryOut([one], [other]);
    known.set(key, outcome);
    return outcome;
  }

  /** Has all wait that want to write. Returns what lets them go, once they have read. */
  async function holdWrites(): Promise<() => Promise<void>> {
    const commit = await stage.change("SELECT 1");
    return async () => {
      for (let turn = 0; turn < 5; turn++) await service.ask("/api/health");
      await commit();
    };
  }

  function describeAnswer(answer: Answer | undefined): string {
    const { status = 200, headers = {}, text = "" } = answer ?? {};
    return names.in(`${status} ${headers.location ?? (text.startsWith("{") ? text : "")}`);
  }

  /** Does it once, and sends the mails. At once, one act's may be wanted no more because of the other. */
  async function tryAlone(name: string): Promise<Outcome> {
    const outcome = await tryOut([name]);
    await settle();
    const files = readdirSync(mailFolder).filter(
      (file) => file.endsWith(".eml") && !mailedBefore.includes(file),
    );
    const sent = await Promise.all(
      files.map((file) => PostalMime.parse(readFileSync(join(mailFolder, file)))),
    );
    const mails = sent.map(({ to, subject }) => names.in(`to ${to?.[0]?.address}: ${subject}`)).sort();
    return { ...outcome, mails };
  }

  it.each(written)("writes this and no more, once and again: %s", async (name) => {
    const once = await tryAlone(name);
    const again = await inTurn(name, name);
    await expect(describeOutcomes(once, again)).toMatchFileSnapshot(`acts/${name.replaceAll(" ", "-")}.txt`);
  });

  it.each(pairs)("comes at once to what one after the other does: %s, %s", async (name, other) => {
    const together = await tryOut([name, other]);
    const before = await inTurn(name, other);
    if (isDeepStrictEqual(together, before)) return;
    const after = await inTurn(other, name);
    if (!isDeepStrictEqual(together, after)) expect(together).toEqual(before);
  });
});

it("has an act of each form and write about an owner, or says why not", () => {
  const owners = Object.values<Route>(ownerForms).map(({ path }) => path);
  const writes = Object.values<Route>(backendRoutes).flatMap(({ methods, path }) =>
    methods[0] === "POST" ? [path] : [],
  );
  const ofOffice = officePages.flatMap(({ acts = [] }) => acts.map(({ path }) => path));
  const all = new Set<string>([...owners, ...writes, ...ofOffice].filter((path) => !ofNoOwner.test(path)));
  expect([...tried, ...Object.keys(notTried)].sort()).toEqual([...all].sort());
});

function actOf(name: string): Act {
  return acts[name] ?? expect.fail(`no act is called ${name}`);
}

/** What an act comes to, and what else when it comes again. */
function describeOutcomes(once: Outcome, again: Outcome): string {
  const list = ({ answers, changes, mails = [] }: Outcome) => [
    ...Object.values(answers).flat(),
    ...changes,
    ...mails,
  ];
  const [first, both] = [list(once), list(again)];
  const more = both.filter((line) => both.indexOf(line) !== both.lastIndexOf(line) || !first.includes(line));
  return `${first.join("\n")}\n\nAgain:\n${[...new Set(more)].join("\n")}\n`;
}
