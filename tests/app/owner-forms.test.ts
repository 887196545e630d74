import { beforeAll, describe, expect, it } from "vitest";
import { ownerForms } from "@/lib/http/register/forms";
import type { Route } from "@/lib/http/route";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { engines } from "@/tests/support/engines";
import { type Buyer, openShop } from "@/tests/support/shop";

/* What every form and script of the owner's pages asks of its sender before it does anything. */

const forms = Object.values<Route>(ownerForms);

describe.each(engines)("a form of an owner, on $name", async (engine) => {
  const shop = await startShop(engine);
  let owner: Buyer;
  let senders = 0;
  beforeAll(async () => {
    owner = await shop.admit("--plan", "licensed");
  });

  /** Sends a form from an address of its own, so that no limit is reached. Returns where it leads, or the status. */
  async function send(path: string, headers: Record<string, string>, account = owner.id) {
    return sendFields(path, headers, { account, session: "tokens", name: "x" });
  }
  async function sendFields(path: string, headers: Record<string, string>, fields: Record<string, string>) {
    const from = `127.47.${++senders >> 8}.${senders & 255}`;
    const answer = await shop.service.submit(path, fields, { headers, from });
    return answer.headers.location ?? answer.status;
  }
  const cookies = () =>
    `__session=${owner.browser.valueOf("__session")}; office-client=${owner.browser.valueOf("office-client")}`;
  const changes = async () => [
    await shop.service.audit(owner.email),
    // The service reads prices and what it may have missed by itself.
    shop.stripe.requests.filter((request) => !request.startsWith("GET ")),
  ];

  it.each(forms)("is taken from the owner's browser, and from no program: $path", async ({ path }) => {
    const token = await shop.service.token(owner.email);
    const before = await changes();
    const bearer = { authorization: `Bearer ${token}` };
    // Even together with a browser's cookie, and even the browser's own token.
    for (const headers of [
      bearer,
      { ...bearer, cookie: cookies() },
      { authorization: `Bearer ${owner.browser.valueOf("__session")}`, cookie: cookies() },
    ])
      expect(await send(path, headers)).toBe(403);
    const [session = "", secret = ""] = cookies().split("; ");
    for (const cookie of [
      ...[`__session=${token}`, `__session=${token}; office-client=${token}`, ""],
      // The browser's own token without the secret that renews it, or with two.
      ...[session, `${session}; office-client=x`, `${cookies()}; ${secret}`],
    ])
      expect([401, "/sign-in?problem=ended"]).toContain(await send(path, { cookie }));
    expect(await changes()).toEqual(before);
  });

  it.each(forms.filter(({ takes }) => takes === "form"))(
    "is done only for the account that the page named: $path",
    async ({ path, page }) => {
      const before = await changes();
      for (const account of ["acc_other", ""])
        expect([409, `${page}?problem=account`]).toContain(await send(path, { cookie: cookies() }, account));
      // The address of the page that a browser was on is no field of the form.
      const referer = `${shop.service.url}${page}?account=${owner.id}&session=tokens&name=x`;
      const answer = await sendFields(path, { cookie: cookies(), referer }, {});
      expect([409, `${page}?problem=account`]).toContain(answer);
      expect(await changes()).toEqual(before);
    },
  );
});

it("an impersonator may do none of what the register says, and each attempt is audited", async () => {
  const clerk = await ClerkInstance.start();
  const [engine = expect.fail("there is no engine")] = engines;
  const shop = await openShop(engine, clerk.environment);
  const [email, terms] = ["ceo@example.com", ["--plan", "licensed", "--subject", "user_2ceo"]];
  const { id: account } = await shop.service.adminJson<{ id: string }>("account", "add", email, ...terms);
  const browser = new Browser(shop.service);
  browser.cookies.set("__session", clerk.mint({ act: { sub: "user_support" } }));
  for (const { path, notImpersonated: what } of forms) {
    if (!what) continue;
    expect((await browser.submit(path, { account })).status, path).toBe(403);
    expect((await shop.service.audit(email))[0]).toMatchObject({
      who: "impersonator user_support",
      what,
      after: { refused: true },
    });
  }
  await shop.close();
  await clerk.stop();
});
