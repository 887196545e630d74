import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { dayMs, hourMs } from "@/lib/config/durations";
import {
  type Act,
  type AtStripe,
  fallDue,
  happen,
  hear,
  nobody,
  type Owner,
  packCredits,
  type Seen,
  see,
  useApp,
  type What,
  whats,
} from "@/tests/lib/accounts/owner-model";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";
import { type App, makeApp } from "@/tests/support/oauth-libraries";
import { connectApp, refresh } from "@/tests/support/owner";
import { openShop, sessionIn } from "@/tests/support/shop";

/** How long stories are lived on each engine; `STORIES` has another number of seconds, and `SEED` other stories. */
const seconds = Number(process.env.STORIES ?? 30);
const seed = Number(process.env.SEED ?? 1);
const owners = 4;

/** What becomes of Stripe's deliveries of a step. */
const deliveries = ["in time", "twice", "four at once", "dropped", "late"] as const;
const passing = {
  "5 minutes": 5 * 60_000,
  "an hour": hourMs,
  "a day less 1 ms": dayMs - 1,
  "1 ms": 1,
  "a day": dayMs,
  "3 days": 3 * dayMs,
  "14 days": 14 * dayMs,
  "30 days": 30 * dayMs,
};

/** A step of a story: up to two acts at once, or time that passes. */
type Step = {
  acts: readonly Act[];
  passes?: keyof typeof passing | undefined;
  delivered: (typeof deliveries)[number];
};

const amounts = {
  add: [2, 4, 10],
  set: [4, 10],
  give: [5, 50],
  spend: [3, 30],
  hold: [3, 30],
  refund: [1, 2],
};
/** What stories are about: each of some acts that meet often, and some of all. */
const themes: (readonly What[])[] = [
  ["buy pack", "refund pack", "spend", "set licensed"],
  [
    "buy",
    "cancel",
    "uncancel",
    "end",
    "refund",
    "card fails",
    "card works",
    "pay",
    "set licensed",
    "set trial",
  ],
  ["give", "spend", "hold", "settle", "release"],
  ["leave", "keep", "erase", "connect", "revoke", "add trial"],
  whats,
];
const actOf = (whats: readonly What[]): fc.Arbitrary<Act> =>
  fc
    .record({
      who: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3),
      what: fc.constantFrom(...whats),
      amount: fc.nat(2),
    })
    .map(({ who, what, amount }) => {
      const of = amounts[what.split(" ")[0] as keyof typeof amounts] ?? [1];
      return { who, what, amount: of[amount % of.length] ?? 1 };
    });
const delivered = fc.oneof(
  { weight: 3, arbitrary: fc.constant("in time" as const) },
  { weight: 4, arbitrary: fc.constantFrom(...deliveries) },
);
const stepOf = (act: fc.Arbitrary<Act>): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ acts: fc.tuple(act), delivered }) },
    { weight: 2, arbitrary: fc.record({ acts: fc.tuple(act, act), delivered }) },
    {
      weight: 3,
      arbitrary: fc.record({
        acts: fc.constant([]),
        passes: fc.constantFrom(...(Object.keys(passing) as (keyof typeof passing)[])),
        delivered,
      }),
    },
  );
const story = fc.oneof(
  ...themes.map((whats) => fc.array(stepOf(actOf(whats)), { maxLength: 60, size: "max" })),
);

const inWords = ({ acts, passes, delivered }: Step) =>
  `${passes ? `${passes} pass` : acts.map(({ who, what, amount }) => `owner ${who}: ${what} ${amount}`).join(" | at once: ")} (${delivered})`;

/** An owner as the story drives them. */
type Driven = {
  email: string;
  id: string;
  browser?: { at: Browser; sinceMs: number };
  subscription?: string | undefined;
  paidUntilMs: number;
  isReturned: boolean;
  cardFails: boolean;
  packs: string[];
  holds: { id: string; credits: number }[];
  token: string;
  /** What Stripe has of them and the service may not have heard: the licence or the number of a pack, and since when. */
  unheard: Map<"licence" | number, number>;
  /** What may be true of them: each is one of the orders in which what ran at once may have happened. */
  may: Owner[];
};

async function openWorld(engine: Engine) {
  const clock = makeClock(Math.ceil(Date.now() / 1000) * 1000);
  const secret = "a-secret-of-32-characters-or-so!";
  const shop = await openShop(engine, await withBackendApi({ ...clock.environment, CRON_SECRET: secret }));
  const { service, stripe, stage } = shop;
  stripe.nowMs = clock.now;
  const worker = await BackendCaller.add(service, "worker");
  worker.nowMs = clock.now;
  let app: App | undefined;
  let stories = 0;
  const figures = { stories: 0, steps: 0, acts: 0 };
  return {
    shop,
    service,
    stripe,
    stage,
    clock,
    worker,
    figures,
    secret,
    story: () => ++stories,
    app: async () => (app ??= await makeApp(service)),
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

class Story {
  readonly all: Driven[];
  private late: object[] = [];
  private readonly told: string[] = [];

  constructor(private readonly world: World) {
    const n = world.story();
    this.all = Array.from({ length: owners }, (_, who) => {
      const email = `owner-${who}-of-${n}@example.com`;
      return { email, may: [nobody(email)], ...this.fresh() };
    });
  }

  private fresh = () => ({
    id: "",
    paidUntilMs: 0,
    isReturned: false,
    cardFails: false,
    packs: [],
    holds: [],
    token: "",
    unheard: new Map(),
  });

  async live(steps: Step[]): Promise<void> {
    for (const step of steps) await this.take(step);
    this.world.figures.stories++;
  }

  private async take({ acts, passes, delivered }: Step): Promise<void> {
    const { clock, stripe, service, figures } = this.world;
    // Who has no account yet, or no longer, first gets one.
    const [first, second] = acts.map((act) =>
      this.all[act.who]?.id || act.what.startsWith("add") ? act : asAdded(act),
    );
    const meant =
      first && second && !canMeet(first, second)
        ? [first]
        : [first, second].filter((act) => act !== undefined);
    this.told.push(inWords({ acts: meant, passes, delivered }));
    figures.steps++;
    figures.acts += meant.length;
    const before = this.all.map((owner) => this.atStripe(owner));
    if (passes) clock.pass(passing[passes]);
    // An address that was erased just now gets its next account a moment later: nothing of before is noted of it.
    if (meant.some(({ who, what }) => what.startsWith("add") && !this.all[who]?.id)) clock.pass(1);
    if (passes) for (const owner of this.all) this.renew(owner);
    const answers = await Promise.all(meant.map((act) => this.run(act)));
    if (!passes && answers.every((answer) => answer === "skipped")) {
      this.told.pop();
      return;
    }
    for (const [who, owner] of this.all.entries()) {
      this.follow(
        owner,
        meant.flatMap((act, at) => (act.who === who ? [{ act, answer: answers[at] }] : [])),
      );
      const after = this.atStripe(owner);
      for (const thing of ["licence", ...after.packs.keys()] as const)
        if (!isDeepStrictEqual(partOf(before[who], thing), partOf(after, thing)) && !owner.unheard.has(thing))
          owner.unheard.set(thing, clock.now());
    }
    const events = stripe.takeEvents();
    const isSent = delivered !== "dropped" && delivered !== "late";
    if (delivered === "late") this.late.push(...events);
    const sent = [...(isSent ? events : []), ...(isSent && passes ? this.late.splice(0) : [])];
    const copies = { twice: 2, "four at once": 4 }[delivered as string] ?? 1;
    for (const event of sent) {
      const results = await Promise.all(Array.from({ length: copies }, () => stripe.deliver(service, event)));
      for (const { status, text } of results)
        if (status !== 200) this.fail(`a delivery was answered ${status} ${text}`);
    }
    if (passes || sent.length > 0 || meant.some(({ what }) => !isQuiet.test(what))) await this.settle();
    // What a round reads at Stripe itself may make a mail due, which the next round sends.
    if (passes && this.all.some(({ unheard }) => unheard.size > 0)) await this.settle();
    const [nowMs, text] = [clock.now(), JSON.stringify(sent)];
    for (const owner of this.all) {
      const there = this.atStripe(owner);
      let all = owner.may.flatMap((one) => [one, fallDue(one, nowMs)]);
      for (const [thing, sinceMs] of owner.unheard) {
        const isHeard =
          nowMs - sinceMs > dayMs + hourMs ||
          this.namesOf(owner, thing).some((name) => text.includes(`"${name}"`));
        const heard = all.flatMap((one) => hear(one, thing, there, nowMs));
        all = isHeard ? heard : [...all, ...heard];
        if (isHeard) owner.unheard.delete(thing);
      }
      owner.may = distinct(all.map((one) => fallDue(one, nowMs)));
    }
    const seen = await Promise.all(this.all.map((owner) => this.see(owner)));
    for (const [who, owner] of this.all.entries()) this.compare(owner, seen[who] as Seen);
  }

  /** By what an event names a licence or a pack. */
  private namesOf({ subscription = "", packs }: Driven, thing: "licence" | number): string[] {
    const id = thing === "licence" ? subscription : (packs[thing] ?? "");
    return [id, this.world.stripe.chargeOf(id).id];
  }

  /** What Stripe has of an owner. */
  private atStripe(owner: Driven): AtStripe {
    const { stripe } = this.world;
    const found = owner.subscription && stripe.subscriptions.get(owner.subscription);
    const packs = owner.packs.map((session) => {
      const { amount, amount_refunded } = stripe.chargeOf(session);
      return packCredits * (1 - amount_refunded / amount);
    });
    if (!found) return { packs };
    const endsAtMs = (found.items.data[0]?.current_period_end ?? 0) * 1000;
    const { paidUntilMs, isReturned } = owner;
    return {
      packs,
      licence: {
        id: found.id,
        status: found.status,
        endsAtMs,
        isCancelled: found.cancel_at_period_end,
        paidUntilMs,
        isReturned,
      },
    };
  }

  /** Stripe begins the periods that are due, or ends what was cancelled. */
  private renew(owner: Driven): void {
    const { stripe, clock } = this.world;
    const { subscription } = owner;
    const found = subscription && stripe.subscriptions.get(subscription);
    if (!found || found.status === "canceled") return;
    while (stripe.itemOf(found.id).current_period_end * 1000 <= clock.now()) {
      if (found.cancel_at_period_end) {
        stripe.end(found.id);
        return;
      }
      if (!owner.cardFails && found.status === "past_due") this.payOpen(owner, found.id);
      if (owner.cardFails && found.status === "active")
        owner.paidUntilMs = stripe.itemOf(found.id).current_period_end * 1000;
      stripe.renew(found.id, { isPaid: !owner.cardFails });
      if (!owner.cardFails) owner.isReturned = false;
    }
  }

  private payOpen(owner: Driven, id: string): void {
    this.world.stripe.payOpen(id);
    // What is open is of a later period than what was returned, which only an active licence is.
    Object.assign(owner, { paidUntilMs: 0, isReturned: false });
  }

  private follow(owner: Driven, own: { act: Act; answer: string | undefined }[]): void {
    const nowMs = this.world.clock.now();
    const orders = own.length === 2 ? [own, own.toReversed()] : [own];
    const after = owner.may.flatMap((one) =>
      orders.flatMap((order) => {
        let all = [one];
        for (const { act, answer } of order)
          if (answer !== "skipped")
            all = all.flatMap((each) =>
              happen(each, act, nowMs).flatMap((outcome) =>
                outcome.answer === answer ? [outcome.owner] : [],
              ),
            );
        return all;
      }),
    );
    if (after.length === 0)
      this.fail(
        `answered ${JSON.stringify(own.map(({ answer }) => answer))}, of what may be ${JSON.stringify(owner.may)}`,
      );
    owner.may = distinct(after);
  }

  /** Has an act done. What makes no sense now, as anyone would see, is skipped. */
  private async run({ who, what, amount }: Act): Promise<"done" | "refused" | "skipped"> {
    const { service, stripe, worker, clock } = this.world;
    const owner = this.all[who] as Driven;
    const { email } = owner;
    const [verb, plan = ""] = what.split(" ");
    if (verb === "add") {
      if (owner.id) return "skipped";
      const terms =
        plan === "trial"
          ? ["--trial-ends", new Date(clock.now() + amount * dayMs).toISOString()]
          : ["--plan", plan];
      const { id } = await service.adminJson<{ id: string }>(
        "account",
        "add",
        email,
        ...terms,
        "--credits",
        "20",
      );
      Object.assign(owner, this.fresh(), { id, browser: undefined, subscription: undefined });
      return "done";
    }
    if (!owner.id) return "skipped";
    const found = owner.subscription ? stripe.subscriptions.get(owner.subscription) : undefined;
    const write = async (path: string, body: object) => {
      const { status, text } = await worker.post(path, body);
      if (status === 200) return JSON.parse(text);
      if (status !== 409) this.fail(`${path}: ${status} ${text}`);
    };
    const browser = async () => {
      if (!owner.browser || clock.now() > owner.browser.sinceMs)
        owner.browser = { at: await Browser.signIn(service, email), sinceMs: clock.now() };
      return owner.browser.at;
    };
    const submit = async (path: string, fields: Record<string, string> = {}) =>
      (await browser()).submit(path, { account: owner.id, ...fields });
    switch (what) {
      case "set trial":
        await service.adminJson(
          "account",
          "set",
          email,
          "--plan",
          "trial",
          "--trial-ends",
          new Date(clock.now() + amount * dayMs).toISOString(),
        );
        return "done";
      case "set hobby":
      case "set licensed":
        await service.adminJson("account", "set", email, "--plan", plan);
        return "done";
      case "buy":
      case "buy pack": {
        if (what === "buy" && found && found.status !== "canceled") return "skipped";
        const answer = await submit(
          "/home/checkout",
          what === "buy" ? { licence: "price_month" } : { credits: "price_pack" },
        );
        if (!/<a href="[^"]*\/pay\/cs_/.test(answer.text)) return "refused";
        const session = sessionIn(answer);
        if (stripe.sessions.get(session)?.status !== "open") return "refused";
        stripe.pay(session);
        if (what === "buy pack") owner.packs.push(session);
        else
          Object.assign(owner, {
            subscription: String(stripe.sessions.get(session)?.subscription),
            isReturned: false,
            paidUntilMs: 0,
            cardFails: false,
          });
        return "done";
      }
      case "cancel":
        if (found?.status !== "active" || found.cancel_at_period_end) return "skipped";
        stripe.cancelAtPeriodEnd(found.id);
        return "done";
      case "uncancel":
        if (found?.status !== "active" || !found.cancel_at_period_end) return "skipped";
        stripe.change(found.id, { cancel_at_period_end: false, cancel_at: null });
        return "done";
      case "end":
        if (!found || found.status === "canceled") return "skipped";
        stripe.end(found.id);
        return "done";
      case "refund":
        if (found?.status !== "active" || owner.isReturned) return "skipped";
        stripe.refundCharge(stripe.chargeOf(found.id));
        owner.isReturned = true;
        return "done";
      case "card fails":
      case "card works":
        owner.cardFails = what === "card fails";
        return "done";
      case "pay":
        if (found?.status !== "past_due") return "skipped";
        owner.cardFails = false;
        this.payOpen(owner, found.id);
        return "done";
      case "refund pack": {
        const session = owner.packs.at(-1);
        const charge = session && stripe.chargeOf(session);
        if (!charge || charge.refunded) return "skipped";
        stripe.refundCharge(
          charge,
          amount === 1 && charge.amount_refunded === 0 ? charge.amount / 2 : undefined,
        );
        return "done";
      }
      case "give":
        await service.adminJson("credits", "add", email, String(amount));
        return "done";
      case "spend":
        return (await write(`/v1/accounts/${owner.id}/spends`, { credits: amount, reason: "A page" }))
          ? "done"
          : "refused";
      case "hold": {
        const made = await write(`/v1/accounts/${owner.id}/holds`, {
          credits: amount,
          reason: "A page",
          expiresInSeconds: 3600,
        });
        if (made) owner.holds.push({ id: made.id, credits: amount });
        return made ? "done" : "refused";
      }
      case "settle":
      case "release": {
        const hold = owner.holds.shift();
        if (!hold) return "skipped";
        return (await write(
          `/v1/holds/${hold.id}/${what}`,
          what === "settle" ? { credits: hold.credits } : {},
        ))
          ? "done"
          : "refused";
      }
      case "leave":
        await submit("/home/account/delete");
        return "done";
      case "keep":
        await submit("/home/account/keep");
        return "done";
      case "erase":
        await service.adminJson("person", "erase", email);
        owner.id = "";
        return "done";
      case "connect": {
        const { refresh_token = "" } = await connectApp(await this.world.app(), await browser(), service);
        owner.token = refresh_token;
        return "done";
      }
      case "revoke":
        await submit("/home/sessions/end", { session: "apps" });
        return "done";
      default: {
        const { status } = await service.ask(await service.unsubscribePath(email), { method: "POST" });
        if (status !== 200) this.fail(`unsubscribing was answered ${status}`);
        return "done";
      }
    }
  }

  /** Has all done that is due, and waits until nothing is on its way. */
  private async settle(): Promise<void> {
    const { service, secret, stage, clock } = this.world;
    const due = `SELECT id FROM sign_in_mails WHERE attempts > 0 OR next_attempt_at_ms <= ${clock.now()}`;
    const { status } = await service.ask("/hooks/cron", { headers: { authorization: `Bearer ${secret}` } });
    if (status !== 204) this.fail(`the scheduler was answered ${status}`);
    await eventually(async () => expect(await stage.query(due)).toEqual([]));
  }

  private async see(owner: Driven): Promise<Seen> {
    const { service, worker, stage } = this.world;
    const { email, id } = owner;
    const mails = await stage.query(
      `SELECT kind FROM sign_in_mail_attempts WHERE email = '${email}' AND state = 'sent'`,
    );
    const kinds = mails
      .map(({ kind }) => String(kind))
      .filter((kind) => !["code", "new browser", "app ending", "farewell"].includes(kind))
      .sort();
    const shown = id ? await worker.get(`/v1/accounts/${id}`) : { status: 404, text: "" };
    const renewed = owner.token ? await refresh(service, owner.token) : { status: 400, text: "" };
    let answer = 401;
    if (renewed.status === 200) {
      const { access_token, refresh_token } = JSON.parse(renewed.text);
      owner.token = refresh_token;
      answer = await service.statusFor(access_token);
    } else owner.token = "";
    if (shown.status !== 200 && shown.status !== 404)
      this.fail(`the account was answered ${shown.status} ${shown.text}`);
    if (shown.status !== 200)
      return {
        status: undefined,
        trialEndsAtMs: undefined,
        balance: 0,
        held: 0,
        entries: [],
        mails: kinds,
        app: answer,
      };
    const { status, trialEndsAt, balance, held } = JSON.parse(shown.text);
    const { entries } = JSON.parse((await worker.get(`/v1/accounts/${id}/entries?limit=1000`)).text) as {
      entries: { credits: number }[];
    };
    return {
      status,
      balance,
      held,
      mails: kinds,
      app: answer,
      trialEndsAtMs: status === "trial" ? Date.parse(trialEndsAt) : undefined,
      entries: entries.map(({ credits }) => credits).sort((one, other) => one - other),
    };
  }

  private compare(owner: Driven, seen: Seen): void {
    const nowMs = this.world.clock.now();
    const may = owner.may.filter((one) => isDeepStrictEqual(see(one, nowMs), seen));
    if (may.length === 0)
      this.fail(
        `${owner.email.slice(0, 7)} has\n  ${JSON.stringify(seen)}\nand should have\n  ${owner.may.map((one) => JSON.stringify(see(one, nowMs))).join("\nor\n  ")}`,
      );
    owner.may = distinct(may.flatMap((one) => useApp(one, owner.token !== "", nowMs)));
    const isGone = may.every(({ createdAtMs }) => createdAtMs === undefined);
    if (isGone) Object.assign(owner, this.fresh(), { subscription: undefined, browser: undefined });
  }

  private fail(what: string): never {
    if (process.env.LOUD)
      process.stderr.write(`--- ${this.told.length} steps\n${this.told.join("\n")}\n${what}\n`);
    throw new Error(`${this.told.join("\n")}\n${what}`);
  }
}

/** What makes nothing due, so that nothing has to be waited for. */
const isQuiet = /give|spend|hold|settle|release|keep|card|revoke/;

const asAdded = ({ who, what, amount }: Act): Act => ({
  who,
  what: what.includes("pack") ? "add licensed" : amount > 3 ? "add hobby" : "add trial",
  amount: 10,
});

/** Whether two acts may be done at once: both at Stripe, for one owner, no one could follow. */
function canMeet(first: Act, second: Act): boolean {
  if (first.who !== second.who) return true;
  const both = (kind: RegExp) => kind.test(first.what) && kind.test(second.what);
  const alone = /add|erase|connect|revoke|unsubscribe/;
  return (
    !alone.test(first.what) &&
    !alone.test(second.what) &&
    !both(/buy|cancel|end|refund|pay|card/) &&
    !both(/settle|release/)
  );
}

const partOf = (there: AtStripe | undefined, thing: "licence" | number) =>
  thing === "licence" ? there?.licence : (there?.packs[thing] ?? 0);

const distinct = (all: Owner[]) => [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];

describe.each(engines)("four owners on $name", async (engine) => {
  const world = await openWorld(engine);
  afterAll(() => world.shop.close());

  it("have what the documents say, whatever happens at once, late, twice or never", {
    timeout: 300_000 + seconds * 2000,
  }, async () => {
    const property = fc.asyncProperty(story, async (steps) => {
      await new Story(world).live(steps);
    });
    property.afterEach(async () => {
      world.stripe.takeEvents();
      for (const each of [
        world.stripe.customers,
        world.stripe.sessions,
        world.stripe.subscriptions,
        world.stripe.invoices,
        world.stripe.charges,
        world.stripe.refunds,
      ])
        each.clear();
      await world.stage.query("DELETE FROM accounts");
    });
    const untilMs = performance.now() + seconds * 1000;
    try {
      for (let round = seed; performance.now() < untilMs; round++) {
        const { failed, errorInstance } = await fc.check(property, {
          numRuns: 10,
          seed: round,
          interruptAfterTimeLimit: 120_000,
        });
        if (failed) expect.fail(`SEED=${round}\n${(errorInstance as Error).message}`);
      }
    } finally {
      process.stderr.write(`${engine.name}: ${JSON.stringify(world.figures)}\n`);
    }
  });
});
