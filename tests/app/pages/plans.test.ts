import { beforeAll, describe, expect, it } from "vitest";
import { startService, startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";
import type { Buyer, Shop } from "@/tests/support/shop";

const set = (service: Service, ...words: string[]) => service.adminJson("plan", "set", ...words);

/** The plans on a page, each with its words in order. */
function plansIn(html: string): Record<string, string[]> {
  const [, list = ""] =
    /<ul class="plans(?: folded)?">(.*?)<\/ul>(?=<p(?: class="quiet")?>|<\/section>)/s.exec(html) ?? [];
  const cards = list.split(/<li class="card"[^>]*>|<li[^>]*><details[^>]*>/).slice(1);
  return Object.fromEntries(
    cards.map((card) => wordsIn(card)).map(([title = "", ...words]) => [title, words]),
  );
}

const wordsIn = (html: string) =>
  html
    .replaceAll("\u00a0", " ")
    .split(/<[^>]*>/)
    .map((words) => words.trim())
    .filter((words) => words !== "");

async function pageOf({ browser }: Pick<Buyer, "browser">, path = "/home/billing") {
  await browser.post("/sign-in/renew");
  return (await browser.open(path)).text;
}

/** Office by the month and the year, and Team by the year alone, with what is in them. */
async function describePlans({ service, stripe, reconcile }: Shop): Promise<void> {
  await reconcile(); // makes plans of the prices in the settings
  const year = stripe.prices.get("price_team") ?? expect.fail("no price");
  stripe.prices.set("price_year", {
    ...year,
    id: "price_year",
    unit_amount: 49_000,
    tax_behavior: "exclusive",
  });
  await set(
    service,
    ...["office-licence", "--title", "Office", "--description", "For a company that works every day."],
    ...["--feature", "weekly-report=A report each week", "--feature", "voice", "--limit", "assistants=12"],
    ...["--limit", "projects=none", "--limit", "seats=1", "--limit", "guests=0", "--credits", "1500"],
    ...["--price", "price_month", "--price", "price_year"],
  );
  await set(service, "team-licence", "--title", "Team", "--feature", "none");
  await set(service, "trial", "--limit", "assistants=3");
}

const officeContains = [
  ...["A report each week", "Voice", "Up to 12 assistants", "Unlimited projects", "1 seat", "No guests"],
  "1,500 credits a month",
];

describe.each(engines.slice(0, 1))("plans side by side", async (engine) => {
  const shop = await startShop(engine, { STRIPE_TAX: "automatic" });
  const { service, stripe } = shop;
  beforeAll(() => describePlans(shop));

  it("are on the front page with what is in them, each price with its tax and what it is a month", async () => {
    expect(plansIn((await service.ask("/")).text)).toEqual({
      Trial: [
        "You begin here",
        "To try everything, free until it ends.",
        "14 days free, no card",
        "Join the waitlist",
        "Up to 3 assistants",
      ],
      Office: [
        "For a company that works every day.",
        "€49 a month",
        ...["€490 a year plus tax", "that is about €40.83 a month"],
        ...officeContains,
      ],
      Team: [...["€990 a year", "that is €82.50 a month"], "Up to 25 assistants"],
    });
  });

  it.each([
    ["", "We give it: ask the person who invited you."],
    ["hobby", "Yours when a plan that you bought ends."],
  ])("say how one comes to the free one, with LAPSED_PLAN=%s", async (LAPSED_PLAN, words) => {
    const own = await startService({ SIGN_IN: "local", ...stripe.environment, LAPSED_PLAN });
    await set(own, "hobby", "--limit", "assistants=1");
    const { Hobby } = plansIn((await own.ask("/")).text);
    expect(Hobby).toEqual(["For a company of one, free for good.", "Free", words, "1 assistant"]);
  });

  it("are on the billing page, with the end of the trial that the owner has, and each price's own button", async () => {
    const buyer = await shop.admit("--trial-ends", "2027-03-01T12:00:00Z");
    const text = await pageOf(buyer);
    expect(text).toContain(">Choose a plan</h2>");
    const { Trial = [], Office } = plansIn(text);
    expect(Trial.slice(0, 3)).toEqual(["Your plan", "To try everything, free until it ends.", "Free"]);
    expect(text).toContain("Stripe adds tax where a price says so, and shows the sum before you pay.");
    expect(Trial.at(-1)).toBe("Up to 3 assistants");
    expect(Office?.slice(1, 6)).toEqual([
      ...["€49 a month", "Buy Office", "€490 a year plus tax", "that is about €40.83 a month"],
      "Buy Office",
    ]);
    expect(text).toContain('value="price_month" aria-label="Buy Office for €49 a month"');
    expect(text).toContain('value="price_year" aria-label="Buy Office for €490 a year plus tax"');
    expect(plansIn(await pageOf(await shop.admit("--plan", "hobby"))).Hobby).toEqual([
      ...["Your plan", "For a company of one, free for good.", "Free", "No charge"],
    ]);
  });

  it("mark the one that the owner pays, with what an operator gives beyond it, and lead to what a change costs", async () => {
    const { buyer } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    await service.adminJson("account", "set", buyer.email, "--limit", "projects=50", "--feature", "video");
    const text = await pageOf(buyer);
    expect(text).toContain(">Change your plan</h2>");
    const { Office, Team, Trial } = plansIn(text);
    expect(Office).toEqual([
      ...["Your plan", "For a company that works every day.", "€49 a month", "Paid monthly"],
      ...["€490 a year plus tax", "that is about €40.83 a month", "Paid monthly"],
      ...["A report each week", "Voice", "Video", "Up to 12 assistants", "Up to 50 projects", "1 seat"],
      ...["No guests", "1,500 credits a month"],
    ]);
    expect(Team?.[2]).toBe("Change to Team");
    expect(Trial, "an owner cannot go back to it").toBe(undefined);
    expect(text).toContain(
      'href="/home/billing?change=price_team#change" aria-label="Change to Team for €990 a year"',
    );
    const chosen = wordsIn(await pageOf(buyer, "/home/billing?change=price_team")).join(" ");
    expect(chosen).toMatch(
      /Change to Team, paid each year .* Team until .* €990(?:\.00)? Less what you paid and have not used −€[\d.]+ You pay now €[\d.]+ Next charge, on .* €990 a year/,
    );
  });

  it("give the names of prices only where several of a plan have one period", async () => {
    const month = stripe.prices.get("price_more") ?? expect.fail("no price");
    stripe.prices.set("price_social", {
      ...month,
      id: "price_social",
      unit_amount: 2900,
      nickname: "For charities",
    });
    const prices = ["price_month", "price_social", "price_year"].flatMap((id) => ["--price", id]);
    await set(service, "office-licence", ...prices);
    const { Office } = plansIn(await pageOf(await shop.admit("--trial-ends", "2026-01-01")));
    expect(Office?.slice(1, 8)).toEqual([
      ...["Office licence", "€49 a month", "Buy Office", "For charities", "€29 a month", "Buy Office"],
      "€490 a year plus tax",
    ]);
    await set(service, "office-licence", "--price", "price_month", "--price", "price_year");
  });

  it("say how many months of a year are free, beside a month that is taxed alike", async () => {
    const year = stripe.prices.get("price_year") ?? expect.fail("no price");
    stripe.prices.set("price_year", { ...year, tax_behavior: "inclusive" });
    shop.pass(11 * 60_000); // prices are kept for ten minutes
    const { Office } = plansIn(await pageOf(await shop.admit("--trial-ends", "2026-01-01")));
    stripe.prices.set("price_year", year);
    shop.pass(11 * 60_000);
    expect(Office).toContain("that is about €40.83 a month, 2 months free");
  });

  it("say on /home what the owner has", async () => {
    const { buyer } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const words = wordsIn(await pageOf(buyer, "/home"));
    const at = words.indexOf("In your plan");
    expect(words.slice(at + 1, at + 7)).toEqual(officeContains.slice(0, -1));
  });

  it("keep one that is not offered any more for who has it, and say so to them alone", async () => {
    await set(service, "founder", "--title", "Founder", "--limit", "assistants=2", "--price", "price_more");
    const payer = await shop.admit("--trial-ends", "2026-01-01");
    const { subscription } = await shop.buy(payer, { licence: "price_more" });
    await shop.deliverAll();
    const given = await shop.admit("--plan", "founder");
    await service.adminJson("plan", "retire", "founder");
    expect(plansIn(await pageOf(payer)).Founder).toEqual([
      "Your plan",
      "Founder is not offered any more. You keep it, at the price that you pay, until you cancel or change it. You cannot come back to it then.",
      "Up to 2 assistants",
    ]);
    expect(plansIn(await pageOf(given)).Founder).toEqual([
      ...["Your plan", "Free", "No charge"],
      "Founder is not offered any more. You keep it, free, until you buy another plan. You cannot come back to it then.",
      "Up to 2 assistants",
    ]);
    stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    expect(plansIn(await pageOf(payer)).Founder?.[1]).toBe(
      "Founder is not offered any more. You have it until it ends, and cannot buy it again then.",
    );
    expect(await pageOf(await shop.admit("--plan", "hobby"))).not.toContain("Founder");
  });

  it("stand there without amounts while Stripe is away, for visitors and owners", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    stripe.faultOf = () => "500";
    shop.pass(11 * 60_000); // prices are kept for ten minutes
    const away = plansIn(await pageOf(buyer));
    stripe.faultOf = () => "none";
    const missing = "Price shown at checkout";
    expect(away.Office).toEqual([
      ...[
        "For a company that works every day.",
        missing,
        "Buy Office",
        missing,
        "Buy Office",
        ...officeContains,
      ],
    ]);
    expect(away.Team).toEqual([missing, "Buy Team", "Up to 25 assistants"]);
  });
});

describe("plans without billing", async () => {
  const fresh = await startService({ SIGN_IN: "local" });
  const written = await startService({ SIGN_IN: "local" });
  const browserOf = async (service: Service, ...terms: string[]) => {
    await service.adminJson("account", "add", "ceo@example.com", ...terms);
    return { browser: await Browser.signIn(service, "ceo@example.com") };
  };

  it("are the trial alone where an operator has written nothing, and an owner's own", async () => {
    expect(Object.keys(plansIn((await fresh.ask("/")).text))).toEqual(["Trial"]);
    const text = await pageOf(await browserOf(fresh, "--plan", "hobby"));
    expect(wordsIn(text).join(" ")).toContain("Your plan You pay nothing here. Hobby");
    expect(plansIn(text).Hobby).toContain("Your plan");
    expect(Object.keys(plansIn(text))).toEqual(["Hobby"]);
  });

  it("are those that say something, without prices and without what is not offered", async () => {
    await set(written, "hobby", "--limit", "assistants=1");
    await set(written, "studio", "--description", "For films.", "--feature", "voice=Voice notes");
    await set(written, "empty");
    await set(written, "founder", "--feature", "voice");
    await written.adminJson("plan", "retire", "founder");
    expect(plansIn((await written.ask("/")).text)).toEqual({
      Trial: [
        "You begin here",
        "To try everything, free until it ends.",
        ...["14 days free, no card", "Join the waitlist"],
      ],
      Hobby: ["For a company of one, free for good.", "Free", "1 assistant"],
      Studio: ["For films.", "Voice notes"],
    });
    const text = await pageOf(await browserOf(written, "--plan", "studio"));
    expect(Object.keys(plansIn(text)), "the owner's own first").toEqual(["Studio", "Hobby"]);
    expect(plansIn(text).Studio?.slice(0, 3)).toEqual(["Your plan", "Free", "For films."]);
  });
});
