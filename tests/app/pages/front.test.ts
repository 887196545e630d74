import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";
import { openShop } from "@/tests/support/shop";

const mainOf = (text: string) => /<main.*<\/main>/s.exec(text)?.[0] ?? "";
const look = async (service: Service, path: string, cookie = "") => {
  const { status, headers, text } = await service.ask(path, cookie ? { headers: { cookie } } : {});
  expect(status).toBe(200);
  return { caching: headers["cache-control"], main: mainOf(text) };
};

const [embedded = expect.fail("there is no engine")] = engines;

describe("the front page", async () => {
  const { service } = await borrowService(embedded);

  it("says what a visitor brings, gets and does now, at what price, and answers five questions", async () => {
    const { main } = await look(service, "/");
    const headings = [...main.matchAll(/<h[1-3][^>]*>([^<]*)</g)].map(([, words]) => words);
    expect(headings).toEqual([
      "Run a company of AI assistants",
      ...["How it works", "You bring an AI app", "You run it all from here", "Now: join the waitlist"],
      ...["Nothing leaves without you", "Three jobs to begin with"],
      ...["What it costs", "Trial", "Questions", "Who sees my work?"],
      ...["What can an app do here?", "What are credits?", "What happens after the trial?"],
      ...["How do I leave?", "Who runs it", "For developers"],
    ]);
    for (const name of ["Claude", "ChatGPT", "VS Code"]) expect(main).toContain(`</span>${name}</li>`);
    expect(main).toContain("is run by the people who send its invitations.");
    expect(main, "addresses of operations are in the documents").not.toContain("/api/");
    expect(main).not.toContain("open source");
  });

  it("shows a job that waits for its owner, which can be neither used nor read twice", async () => {
    const { main } = await look(service, "/");
    const screen =
      /<figure class="screen" role="img" aria-label="[^"]+"><p>In Claude: what your assistants prepared<\/p>(?:<div inert="".*?)+<\/figure>/s.exec(
        main,
      );
    expect(screen?.[0]).toContain("Hi Ida,");
    expect(screen?.[0]).toMatch(/<button type="button">.*Send<\/button><button [^>]*>Edit<\/button>/);
  });

  it.each(["/", "/waitlist"])(
    "%s shows the way home in place of the form to who looks signed in",
    async (path) => {
      const open = await look(service, path);
      expect(open.main).toContain('action="/waitlist/join"');
      expect(open.main).not.toContain("Open your home page");
      for (const cookie of ["__session=x", "office-client=x"]) {
        const { main, caching } = await look(service, path, cookie);
        expect(main).toContain('<a class="button" href="/home">Open your home page</a>');
        expect(main).not.toContain('action="/waitlist/join"');
        expect(caching, "no shared cache keeps it").toMatch(/^(?:private, no-cache|no-store), no-transform$/);
      }
      expect(await look(service, path)).toEqual(open);
    },
  );
});

describe("the front page of an operator", () => {
  it("names who runs it, their own apps, and where the source is", async () => {
    const service = await Service.start({
      SIGN_IN: "local",
      OPERATOR_NAME: "Example GmbH",
      SOURCE_URL: "https://example.com/source",
      APPS: "Desk | macOS and Windows | https://example.com/desk; Pocket | iOS | https://example.com/pocket",
    });
    const { main } = await look(service, "/");
    await service.stop();
    expect(main).toContain(
      "For founders who work alone. Assistants prepare the work in Desk, Pocket or your own apps.",
    );
    expect(main).toContain(
      '<a href="https://example.com/desk">Desk</a> <span class="quiet">macOS and Windows</span>',
    );
    expect(main).not.toContain(">Claude</li>");
    expect(main).toContain("is run by Example GmbH.");
    expect(main).toContain('The software is <a href="https://example.com/source">open source</a>.');
  });

  it("says what a credit buys in the operator’s words, and so do the documents and the owner’s balance", async () => {
    const sentence = "One credit pays for [about] a page of *writing*.";
    for (const CREDIT_USE of ["", sentence]) {
      const service = await Service.start({ SIGN_IN: "local", CREDIT_USE });
      const said = CREDIT_USE || "Credits pay for what your assistants use.";
      expect((await look(service, "/")).main).toContain(said);
      expect((await look(service, "/docs/plans")).main).toContain(said);
      const owner = await Browser.admit(service, "ceo@example.com");
      expect((await owner.open("/home/billing")).text).toContain(said);
      await service.stop();
    }
  });

  it("shows the prices at Stripe, and itself while Stripe is away", async () => {
    const shop = await openShop(embedded);
    const { main, caching } = await look(shop.service, "/");
    expect(main).toContain("<h3>Office licence</h3>");
    expect(main).toContain('<b class="price">€49 a month</b>');
    expect(caching).toBe("public, no-cache, no-transform");
    expect(main).toContain("</strong>, with a paid plan: 500 credits for €10, that is €0.02 each.");
    expect(main).toContain("No tax is added.");
    expect(main).toContain("Nothing is charged until you buy a plan, once you are signed in.");
    await shop.close();

    const closed = await openShop(embedded, { STRIPE_API_URL: "http://127.0.0.1:9" });
    const { main: without, caching: briefly } = await look(closed.service, "/");
    const { caching: forOwner } = await look(closed.service, "/", "__session=x");
    await closed.close();
    expect([briefly, forOwner], "its prices are there soon after Stripe is").toEqual([
      "public, max-age=5, no-transform",
      "private, max-age=5, no-transform",
    ]);
    expect(without).toContain("14 days free, no card");
    expect(without).not.toContain("a month");
  });
});
