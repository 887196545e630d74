import { createHash } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startService } from "@/tests/support/block";
import { ClerkInstance, makeUser } from "@/tests/support/clerk-instance";
import { eventually } from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { processorTimeOf } from "@/tests/support/process-accounts";
import type { Environment, Service } from "@/tests/support/service";

/** The headers of a page navigation, which Clerk may redirect to renew the session. */
const document = { "sec-fetch-dest": "document", accept: "text/html" };

const front = ["dist/server/main.js"];
const clerk = await ClerkInstance.start();
afterAll(() => clerk.stop());

async function startOnLoopback(changed: Environment, program: string[]): Promise<Service> {
  const PORT = String(await reservePort());
  const address = { PORT, APP_URL: `http://127.0.0.1:${PORT}`, HOST: "127.0.0.1" };
  return startService({ ...clerk.environment, ...address, ...changed }, { program });
}

/** The cookies of a browser that is signed in to a development instance. */
function cookiesOf(service: Service, claims: object = {}): string {
  const uat = Math.floor(Date.now() / 1000) - 5;
  return `__session=${clerk.mint({ azp: service.url, ...claims })}; __client_uat=${uat}; __clerk_db_jwt=dvb_1`;
}

const publishableKey = clerk.environment.CLERK_PUBLISHABLE_KEY ?? "";
const suffix = createHash("sha1").update(publishableKey).digest("base64url").slice(0, 8);

describe.each([
  { name: "our front server on 127.0.0.1", program: front },
  {
    name: "`next start -H 127.0.0.1`",
    program: ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1"],
  },
])("Clerk's pages on $name", async ({ program }) => {
  const service = await startOnLoopback(
    { TRUSTED_PROXY_HOPS: "1", SUPPORT_EMAIL: "help@example.com" },
    program,
  );

  it("answer without Clerk's internal headers", async () => {
    for (const path of ["/sign-in", "/invitation"]) {
      const { status, headers, text } = await service.ask(path);
      expect(status).toBe(200);
      expect(text).toContain(clerk.environment.CLERK_PUBLISHABLE_KEY);
      expect(text.match(/href="\/privacy"/g), "at the component and in the foot").toHaveLength(2);
      const told = Object.keys(headers).filter((name) => /^x-(clerk|middleware)/.test(name));
      expect(told).toEqual([]);
    }
  });

  it("redirect a browser that Clerk does not know to Clerk", async () => {
    const { status, headers } = await service.ask("/sign-in", { headers: document });
    expect(status).toBe(307);
    const { origin, pathname, searchParams } = new URL(headers.location ?? "");
    expect([origin, pathname]).toEqual(["https://clerk.example.com", "/v1/client/handshake"]);
    expect(new URL(searchParams.get("redirect_url") ?? "").pathname).toBe("/sign-in");
  });

  it("show the account's state when signed in, and redirect to sign-in otherwise", async () => {
    await service.adminJson("invite", "ceo@example.com", "--plan", "licensed");
    const data = makeUser("user_2ceo", "ceo@example.com", 1000);
    await clerk.deliver(service, { type: "user.created", data });
    const headers = { ...document, cookie: cookiesOf(service) };
    const home = await service.ask("/home", { headers });
    expect(home.status).toBe(200);
    expect(home.text).toContain("Your plan is active");
    const { text } = await service.ask("/home/account", { headers });
    expect(text).toContain("for good. If you do not find it there, write to help@example.com.");

    const signedOut = await service.ask("/home");
    expect(signedOut.status).toBe(303);
    expect(signedOut.headers.location).toBe("/sign-in");
  });

  it("are shown to a browser that is signed in while Clerk's script writes its development cookie anew", async () => {
    const open = (exp: number) =>
      service.ask("/sign-in", {
        headers: { ...document, cookie: `__session=${clerk.mint({ azp: service.url, exp })}` },
      });
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect((await open(nowSeconds + 60)).status).toBe(200);
    const { status, headers } = await open(nowSeconds - 60);
    expect([status, headers.location]).toEqual([307, expect.stringContaining("reason=dev-browser-missing")]);
  });

  it("are shown by the session's cookie though another site's of the name comes first, or has overwritten it", async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const open = (...cookies: string[]) =>
      service.ask("/home", { headers: { ...document, cookie: cookies.join("; ") } });
    const mint = (exp: number) => clerk.mint({ azp: service.url, exp });
    const [valid, expired] = [mint(nowSeconds + 60), mint(nowSeconds - 60)];
    const uat = [`__client_uat=${nowSeconds - 120}`, "__clerk_db_jwt=dvb_1"];
    const own = `__session_${suffix}`;
    const ownUat = [`__client_uat_${suffix}=${nowSeconds - 120}`, `__clerk_db_jwt_${suffix}=dvb_1`];
    for (const others of ["eyJvdGhlciI6MX0.c2ln", "x", clerk.mint({ iss: "https://clerk.example.org" })]) {
      expect((await open(`__session=${others}`, `__session=${valid}`, ...uat)).status).toBe(200);
      expect((await open(`__session=${others}`, `${own}=${valid}`, ...uat, ...ownUat)).status).toBe(200);
      const { status, headers } = await open(`__session=${others}`, `__session=${expired}`, ...uat);
      expect([status, headers.location], "renewed").toEqual([
        307,
        expect.stringContaining("reason=session-token-expired"),
      ]);
    }
  });

  it("send Clerk no request about a client's token", async () => {
    clerk.requests.splice(0);
    for (const token of ["ak_x", "mt_x", "oat_x"]) {
      await service.ask("/sign-in", { headers: { authorization: `Bearer ${token}` } });
    }
    expect(clerk.requests).toEqual([]);
  });

  // Both programs count in the same code.
  if (program === front)
    describe("requests of strangers", () => {
      beforeEach(() => {
        clerk.requests.splice(0);
      });

      let addresses = 0;
      const newAddress = () => `10.4.${++addresses >> 8}.${addresses & 255}`;
      const nowSeconds = Math.floor(Date.now() / 1000);
      const expired = clerk.mint({ azp: service.url, exp: nowSeconds - 60 });
      const known = `__session=${expired}; __client_uat=${nowSeconds - 90}; __clerk_db_jwt=dvb_1`;

      // Every known way to make Clerk's middleware call Clerk.
      it.each([
        ["a nonce in the query", "/sign-in?__clerk_handshake_nonce=abc", ""],
        ["a nonce whose name is encoded", "/sign-in?%5F_clerk_handshake%5Fnonce=abc", ""],
        ["a nonce in a cookie", "/invitation", "a=b;__clerk_handshake_nonce=abc"],
        ["a refresh token", "/home", `${known}; __refresh_${suffix}=abc`],
      ])("has us call Clerk thirty times a minute for one address, by %s", async (_, path, cookie) => {
        const headers = { ...document, "x-forwarded-for": newAddress(), cookie };
        for (let asked = 0; asked < 35; asked++) {
          expect((await service.ask(path, { headers })).status).toBeLessThan(400);
        }
        expect(clerk.requests).toHaveLength(30);
      });

      it("cost as much with a thousand cookies of the session's name as with a thousand of another", async () => {
        const costOf = async (name: string) => {
          const cookie = `${name}=a.b.c; `.repeat(800);
          const headers = { ...document, "x-forwarded-for": newAddress(), cookie };
          const before = processorTimeOf(service.pid);
          for (let asked = 0; asked < 100; asked++)
            expect((await service.ask("/home", { headers })).status).toBe(307);
          return processorTimeOf(service.pid) - before;
        };
        await costOf("__others"); // compiled
        expect(await costOf("__session")).toBeLessThan(5 * (await costOf("__others")));
      });

      it("have no influence on where Clerk redirects the browser back to", async () => {
        const path = "/sign-in?__clerk_redirect_url=https://evil.example/&__clerk_synced=false";
        for (const headers of [
          { host: "evil.example" },
          { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "x-forwarded-port": "8443" },
          { forwarded: "host=evil.example;proto=https", "cloudfront-forwarded-proto": "https" },
        ]) {
          const { status, headers: answered } = await service.ask(path, {
            headers: { ...document, ...headers },
          });
          expect(status).toBe(307);
          const { origin, searchParams } = new URL(answered.location ?? "");
          expect(origin).toBe("https://clerk.example.com");
          expect(searchParams.get("redirect_url")).toBe(`${service.url}/sign-in`);
          expect(answered.location).not.toContain("evil");
        }
      });

      it("neither block on a hanging Clerk, nor count anyone as signed out", async () => {
        clerk.fault = "hang";
        onTestFinished(() => {
          clerk.fault = undefined;
        });
        const open = async (path: string, client: number) => {
          const headers = { ...document, "x-forwarded-for": `10.5.0.${client}` };
          return service.ask(`${path}?__clerk_handshake_nonce=abc`, { headers });
        };
        expect((await open("/sign-in", 0)).status).toBe(200);
        const missedAtMs = performance.now();
        for (let client = 1; client <= 20; client++) {
          const { status, text } = await open("/home", client);
          expect(status).toBe(200);
          expect(text).toContain("nothing is lost");
        }
        // After one missed deadline Clerk is not called for five seconds.
        const maxMissed = 1 + Math.ceil((performance.now() - missedAtMs) / 5000);
        expect(clerk.requests.length).toBeLessThanOrEqual(maxMissed);
        const errors = await eventually(() => {
          const taken = service.takeErrors();
          expect(taken).not.toEqual([]);
          return taken;
        });
        expect(new Set(errors)).toEqual(new Set(["a session could not be renewed"]));
        const away = await service.ask("/home?away", { headers: document });
        expect(away.status).toBe(200);
        expect(away.text).toContain("nothing is lost");
      });
    });
});

const live = {
  CLERK_PUBLISHABLE_KEY: clerk.environment.CLERK_PUBLISHABLE_KEY?.replace("_test_", "_live_") ?? "",
  CLERK_SECRET_KEY: "sk_live_standin",
};

// clerk/javascript#9114
it.each([
  ["a development instance", {}],
  ["a production instance", live],
])("a handshake whose cookies Clerk does not hand out signs no one out, on %s", async (_, keys) => {
  const service = await startOnLoopback(keys, front);
  const nonce = clerk.keepHandshake([`__session=${clerk.mint({ azp: service.url })}; Path=/`]);
  const cookie = cookiesOf(service, { exp: Math.floor(Date.now() / 1000) - 60 });
  const open = () =>
    service.ask(`/home?__clerk_handshake_nonce=${nonce}`, { headers: { ...document, cookie } });
  clerk.fault = "fail";
  onTestFinished(() => {
    clerk.fault = undefined;
  });
  const away = await open();
  expect([away.status, away.text]).toEqual([200, expect.stringContaining("nothing is lost")]);
  clerk.fault = undefined;
  expect((await open()).headers["set-cookie"]).toBeDefined();
  await service.stop({ expectErrors: true });
});

it("a session from a handshake is valid at once, on a production instance too", async () => {
  const service = await startOnLoopback(live, front);
  expect((await service.ask("/sign-in")).text, "whatever key it is started with").toContain(
    live.CLERK_PUBLISHABLE_KEY,
  );
  const expired = cookiesOf(service, { exp: Math.floor(Date.now() / 1000) - 60 });
  const asked = await service.ask("/home", { headers: { ...document, cookie: expired } });
  expect(asked.status).toBe(307);
  expect(asked.headers.location).toContain("https://clerk.example.com/v1/client/handshake?");

  const directive = `__session=${clerk.mint({ azp: service.url })}; Path=/; Secure; SameSite=Lax`;
  const nonce = clerk.keepHandshake([directive]);
  const cookie = `${expired}; __clerk_handshake_nonce=${nonce}`;
  const back = await service.ask("/home", { headers: { ...document, cookie } });
  expect(back.status).toBe(200);
  expect(back.text).toContain("We cannot read your account");
  expect(back.headers["set-cookie"]).toContain(directive);
  await service.stop();
});
