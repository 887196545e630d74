import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { authorizePath, register } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, answerShown, deviceGrant, readQuestion } from "@/tests/support/owner";
import { type Answer, Service } from "@/tests/support/service";

/* How an attacker could mislead an owner on the Connect page. */

const email = "ceo@example.com";
const other = "other@example.com";
const loopback = "http://127.0.0.1:51000/callback";
const site = "https://app.example/signed-in";
const asPerson = { accept: "text/html,*/*" };

let from = 0;

describe.each(engines)("an owner on the Connect page, on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService(stage.environment);
  let owner: Browser;
  let otherOwner: Browser;
  beforeAll(async () => {
    owner = await Browser.admit(service, email, "--plan", "licensed");
    otherOwner = await Browser.admit(service, other, "--plan", "licensed");
  });
  beforeEach(() => {
    owner.cookies.delete("office-request");
  });

  const registerNew = (client: object) => register(service, client, `127.10.0.${++from}`);
  const registered = async (client: object): Promise<string> =>
    JSON.parse((await registerNew({ redirect_uris: [loopback], ...client })).text).client_id;
  const requestFor = (client_id: string, redirect_uri: string, more: Record<string, string> = {}) =>
    authorizePath(client_id, redirect_uri, { state: "kept", ...more });
  const isAsked = async (client_id: string, redirect_uri: string) => {
    await owner.open(requestFor(client_id, redirect_uri));
    return (await owner.open("/connect")).text;
  };
  const askAsDevice = async (client_id = "native", address = "127.0.0.1") => {
    const { text } = await service.submit("/oauth/device", { client_id }, { from: address });
    return JSON.parse(text) as Record<"user_code" | "device_code" | "verification_uri_complete", string>;
  };
  const approvals = async () => {
    const entries = await service.adminJson<{ what: string }[]>("audit", "list");
    return entries.filter(({ what }) => what === "app approve").length;
  };

  describe("sees verified facts", () => {
    it("in the title, a host in punycode where it is not plain ASCII", async () => {
      const look = "https://xn--pple-43d.example:8443/signed-in";
      const text = await isAsked(await registered({ redirect_uris: [look] }), look);
      expect(text).toContain("<h1>xn--pple-43d.example:8443 wants to connect</h1>");
    });

    it("and the name as a claim, without invisible or bidirectional characters", async () => {
      // In Cyrillic, Greek and mathematical letters, except for a word that is none in Latin ones.
      const looks = await registered({ client_name: "Сlаudе \u{1D402}οԁe Привет" });
      expect(await isAsked(looks, loopback)).toContain("<bdi>Claude Code Привет</bdi>");
      const client_name =
        "Corner\u202E Office\u2066\u200B\u3164\u115F\n\u2028 a\u0301\u0301\u0301\u0301\u{E0041}";
      const text = await isAsked(await registered({ client_name }), loopback);
      expect(text).toContain("It calls itself <q><bdi>Corner Office á\u0301\u0301</bdi></q>");
      expect(text).toContain("We can’t verify this app.");
      expect(/<h1>(.*?)<\/h1>/.exec(text)?.[1]).toBe("A program on this computer wants to connect");
    });

    it("also later: what was verified of an app stands apart from its name, which can say anything", async () => {
      for (const [redirect_uri, origin, mailed] of [
        [loopback, "a program on a computer", "Kind: a program on a computer; we can’t verify which"],
        [site, new URL(site).host, `Verified: ${new URL(site).host}`],
      ] as const) {
        const client_name = `Claude (claude.ai) ${origin.length}`;
        const client_id = await registered({ client_name, redirect_uris: [redirect_uri] });
        await answerApp(owner, service, service.url + requestFor(client_id, redirect_uri));
        expect((await owner.open("/home/access")).text).toContain(
          `<strong>${client_name}</strong> <span class="tag">${origin}</span>`,
        );
        const sessions = await service.adminJson<object[]>("session", "list", email);
        expect(sessions).toContainEqual(expect.objectContaining({ name: client_name, origin }));
        const [approved] = await service.audit(email);
        expect(Object.values(approved?.after ?? {})).toEqual([
          expect.objectContaining({ name: client_name, origin }),
        ]);
        await eventually(async () =>
          expect((await mailsTo(service.dataDir, email)).map(({ text }) => text)).toContainEqual(
            expect.stringMatching(
              new RegExp(`calls itself: “Claude \\(claude.ai\\) ${origin.length}”\n${mailed}\n`),
            ),
          ),
        );
      }
    });

    it.each([undefined, null, "", "  ", "\u3164\u200B", 7, { en: "Desk" }])(
      "and no claim if the client has no name that shows: %j",
      async (client_name) => {
        expect(await isAsked(await registered({ client_name }), loopback)).not.toContain("calls itself");
      },
    );
  });

  const odd = [
    ["a user name", "https://claude.ai@app.example/"],
    ["a password", "https://:claude.ai@app.example/"],
    ["a backslash", "https://claude.ai\\@app.example/"],
    ["white space", "https://app.example/a b"],
    ["a tab in the host", "https://app\t.example/"],
    ["a fragment", "https://app.example/#a"],
    ["capitals in the host", "https://APP.example/"],
    ["the scheme's own port", "https://app.example:443/"],
    ["a dot at the end of the host", "https://app.example./"],
    ["one slash", "https:/app.example/"],
    ["an address in another notation", "http://0x7f.1/callback"],
    ["a Cyrillic letter in the host", "https://аpple.example/"],
  ];

  it.each(odd)("is not redirected to an address with %s", async (_, uri) => {
    const { status, text } = await registerNew({ redirect_uris: [uri] });
    expect([status, JSON.parse(text).error]).toEqual([400, "invalid_redirect_uri"]);
    const client_id = await registered({ redirect_uris: [uri, loopback] });
    expect((await owner.open(requestFor(client_id, uri ?? ""))).status).toBe(400);
    expect((await owner.open(requestFor(client_id, loopback))).status).toBe(303);
  });

  it("is not redirected to an address of ours, which would ask in our name", async () => {
    const office = await Service.start({ ...stage.environment, APP_URL: "https://office.example.com" });
    for (const [at, uri] of [
      [service, `${service.url}/callback`],
      [service, `http://127.0.0.1:${new URL(service.url).port}/callback`],
      [office, "https://office.example.com/callback"],
      [office, "https://office.example.com:8443/"],
    ] as const) {
      const answer = await register(at, { redirect_uris: [uri] }, "127.0.0.1");
      expect(JSON.parse(answer.text).error, uri).toBe("invalid_redirect_uri");
    }
    await office.stop();
  });

  it.each([
    ["a dot at the end", "https://claude.ai./"],
    ["a user name", "https://claude.ai@app.example/"],
  ])("is not redirected to an address that was stored under weaker rules: %s", async (_, odd) => {
    const client_id = await registered({ redirect_uris: [loopback, site] });
    await isAsked(client_id, loopback);
    await answerShown(owner);
    await stage.query(
      `UPDATE connect_state SET payload = replace(payload, '${site}', '${odd}') WHERE kind = 'Client' AND payload LIKE '%${client_id}%'`,
    );
    expect((await owner.open(requestFor(client_id, odd))).status).toBe(400);
    expect(await isAsked(client_id, loopback)).toContain("A program on this computer wants to connect");
  });

  it.each(["client_id", "state", "resource"])(
    "is refused a request with a NUL in %s, which PostgreSQL cannot store",
    async (name) => {
      const path = requestFor("native", loopback, { [name]: "a\0b" });
      const browsers = await service.ask(path, { headers: { accept: "text/html" } });
      expect([browsers.status, browsers.headers.location]).toEqual([303, "/connect?problem=app"]);
      expect((await service.ask(path)).status).toBe(400);
      for (const endpoint of ["token", "device", "revoke"]) {
        const fields = { client_id: "native", token: "t", grant_type: "refresh_token", [name]: "a\0b" };
        const { status, text } = await service.submit(`/oauth/${endpoint}`, fields);
        expect([status, JSON.parse(text).error], endpoint).toEqual([400, "invalid_request"]);
      }
    },
  );

  it("is refused a client id with a NUL in a header too", async () => {
    const headers = { authorization: `Basic ${Buffer.from("a%00b:").toString("base64")}` };
    const fields = { grant_type: "refresh_token", refresh_token: "x" };
    expect((await service.submit("/oauth/token", fields, { headers })).status).toBeLessThan(500);
  });

  describe("with a device's request", () => {
    it("sees that it is a device, its network and when the request was made", async () => {
      const { user_code, device_code } = await askAsDevice("native", "127.77.66.55");
      await owner.submit("/connect/device", { user_code });
      const { text } = await owner.open("/connect");
      expect(text).toContain("A device wants to connect");
      expect(text).not.toContain("on this computer");
      expect(text).toMatch(/It asked at <time dateTime="[^"]+" data-shows="time">\d\d:\d\d UTC<\/time>/);
      expect(text).toContain(
        'a network that you are not on now (<strong class="unbroken">127.77.66.0/24</strong>): it can be anywhere',
      );
      expect(text).not.toContain("127.77.66.55");
      expect(text).toContain("If someone sent or told you the code, do not approve");
      await answerShown(owner);
      await service.submit("/oauth/token", { client_id: "native", grant_type: deviceGrant, device_code });
      const sessions = await service.adminJson<object[]>("session", "list", email);
      expect(sessions).toContainEqual(expect.objectContaining({ kind: "app", name: "A device" }));
      await owner.submit("/connect/device", {
        user_code: (await askAsDevice("native", owner.address)).user_code,
      });
      expect((await owner.open("/connect")).text).toContain(", from the same network as you.");
    });

    it("cannot approve anything with one click after following a link", async () => {
      const { user_code, verification_uri_complete } = await askAsDevice();
      const path = verification_uri_complete.replace(service.url, "");
      await owner.open(requestFor("native", loopback));
      const { text } = await owner.open(path);
      expect(text, "whatever else waits").not.toContain('value="approve"');
      expect(text).not.toContain(user_code);
      owner.cookies.set("office-request", `device.${user_code.replace("-", "")}`);
      expect((await owner.open("/connect")).text).not.toContain('value="approve"');
      owner.cookies.delete("office-request");
      const before = await approvals();
      for (const fields of [{ user_code }, { request: user_code }, {}]) {
        const { headers } = await owner.submit("/connect/answer", { ...fields, answer: "approve" });
        expect(headers.location).toBe("/connect");
      }
      // The cookie that another browser got for typing the code does not help either.
      await otherOwner.submit("/connect/device", { user_code });
      const { request } = await readQuestion(otherOwner);
      const { headers } = await owner.submit("/connect/answer", { request, answer: "approve" });
      expect(headers.location).toBe("/connect");
      expect(await approvals()).toBe(before);
      expect((await answerDevice(owner, user_code)).headers.location).toEqual(
        expect.stringContaining("/connect?answered=user_code&outcome=approved&"),
      );
    });

    it("sees the device whose code was typed, and no pending app after a typing error", async () => {
      await owner.open(requestFor("native", loopback));
      const { headers } = await owner.submit("/connect/device", { user_code: "BBBB-BBBB" });
      expect(headers.location).toBe("/connect?problem=code");
      const { text } = await owner.open("/connect?problem=code");
      expect(text).toContain("This code is mistyped, already used or expired");
      expect(text).not.toContain('value="approve"');
    });
  });

  describe("approves for the account that the page named", () => {
    beforeEach(async () => {
      await isAsked("native", loopback);
      await owner.post("/sign-in/renew");
      await otherOwner.post("/sign-in/renew");
    });

    it("and sees the account that would be used, even if another session cookie is planted", async () => {
      const own = owner.valueOf("__session");
      owner.cookies.set("__session", otherOwner.valueOf("__session"));
      const { text } = await owner.open("/connect");
      owner.cookies.set("__session", own);
      expect(text).toContain(`Signed in as <strong>${email}</strong>`);
      expect(text).not.toContain(other);
    });

    it.each(["approve", "decline"])(
      "and nothing is done when another is signed in since: %s",
      async (answer) => {
        const fields = { ...(await readQuestion(owner)), answer };
        const own = owner.valueOf("office-client");
        owner.cookies.set("office-client", otherOwner.valueOf("office-client"));
        const before = await approvals();
        const { status, headers } = await owner.submit("/connect/answer", fields);
        expect(status).toBe(303);
        expect(headers.location).toMatch(/^\/connect\?request=[\w-]{12}&problem=account$/);
        const { text } = await owner.open(String(headers.location));
        owner.cookies.set("office-client", own);
        expect(text).toContain("You are now signed in to a different account");
        expect(text).toContain(`Signed in as <strong>${other}</strong>`);
        expect(await approvals()).toBe(before);
        expect(await readQuestion(owner), "and it still waits").toEqual({
          request: fields.request,
          account: fields.account,
        });
      },
    );

    it("and not if the form names none", async () => {
      const { request } = await readQuestion(owner);
      const { headers } = await owner.submit("/connect/answer", { request, answer: "approve" });
      expect(headers.location).toMatch(/^\/connect\?request=[\w-]{12}&problem=account$/);
    });
  });

  describe("is redirected to a client that registered itself", () => {
    /** Requests whose errors are returned to the client. */
    const wrongs: [string, Record<string, string>][] = [
      ["that forbids asking anyone", { prompt: "none" }],
      ["for a resource that is not ours", { resource: "https://elsewhere.example/" }],
    ];
    let client_id: string;

    beforeAll(async () => {
      client_id = await registered({ client_name: "Trap", redirect_uris: [site] });
    });

    it.each(wrongs)("only by a click on our page, after a request %s", async (_, more) => {
      const path = requestFor(client_id, site, more);
      const program = await service.ask(path);
      expect(program.status).toBe(400);
      expect(program.headers).not.toHaveProperty("location");
      expect(JSON.parse(program.text).error).toBe("invalid_request");
      const { status, headers } = await service.ask(path, { headers: asPerson });
      expect(status).toBe(303);
      expect(headers.location).toMatch(/^\/connect\?refused=[\w-]+$/);
      const { text } = await owner.open(String(headers.location));
      expect(text).toContain("Nothing was connected");
      expect(text).toContain("Its answers go to <strong>app.example</strong>");
      const [, link = ""] = /<a href="(https:[^"]+)" rel="noreferrer">/.exec(text) ?? [];
      const back = new URL(link.replaceAll("&amp;", "&"));
      expect(back.origin + back.pathname).toBe(site);
      expect(back.search + back.hash).toMatch(/[?#&]error=\w+/);
      expect(back.search + back.hash).toContain("state=kept");
      expect(text).not.toContain("http-equiv");
    });

    it("also when the owner has declined", async () => {
      await isAsked(client_id, site);
      await answerShown(owner, "decline");
      const { location } = (await owner.open("/oauth/resume")).headers;
      expect(new URL(String(location)).searchParams.get("error")).toBe("access_denied");
    });

    it("and not by a link that we have not sealed", async () => {
      const forged = Buffer.from("https://evil.example/").toString("base64url");
      expect((await owner.open(`/connect?refused=${forged}`)).text).not.toContain("evil.example");
    });

    it("while a client that the operator added gets its errors directly", async () => {
      await service.adminJson("connect", "add", "desk", "Desk", site);
      const path = requestFor("desk", site, { prompt: "none" });
      const { headers } = await service.ask(path, { headers: asPerson });
      expect(String(headers.location).startsWith(`${site}?`)).toBe(true);
      const twice = await service.ask(`${path}&client_id=${client_id}`);
      expect(twice.headers).not.toHaveProperty("location");
    });
  });

  it("gets every response of the authorization server with our headers", async () => {
    const defaults = {
      "cache-control": expect.stringMatching(/^no-store(?:, no-transform)?$/),
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "x-request-id": expect.stringMatching(/./),
    };
    const ofBody = "connection content-length content-type date keep-alive location set-cookie".split(" ");
    /** Another site's page can read the response, but sends no cookie. */
    const readable = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "Retry-After, WWW-Authenticate, DPoP-Nonce",
    };
    const native = { client_id: "native" };
    for (const [status, asked, more] of [
      [303, service.ask(requestFor("native", loopback)), {}],
      [303, service.ask(requestFor("native", loopback, { prompt: "none" })), {}],
      [400, service.ask(requestFor("unknown", loopback)), {}],
      [400, service.ask("/oauth/resume"), {}],
      [200, service.submit("/oauth/device", native), readable],
      [
        400,
        service.submit("/oauth/token", { ...native, grant_type: "refresh_token", refresh_token: "x" }),
        readable,
      ],
      [200, service.submit("/oauth/revoke", { ...native, token: "x" }), readable],
      [400, registerNew({}), readable],
    ] as [number, Promise<Answer>, object][]) {
      const { status: answered, headers } = await asked;
      const kept = Object.entries(headers).filter(([name]) => !ofBody.includes(name));
      expect([answered, Object.fromEntries(kept)]).toEqual([status, { ...defaults, ...more }]);
    }
  });

  it.each(["token", "device", "revoke", "register"])(
    "may be elsewhere: a preflight of /oauth/%s",
    async (name) => {
      const { status, headers } = await service.ask(`/oauth/${name}`, { method: "OPTIONS" });
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        allow: "POST, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "POST, OPTIONS",
        "access-control-allow-headers": "Authorization, DPoP, Content-Type, MCP-Protocol-Version",
        "access-control-max-age": "7200",
      });
    },
  );

  it.each(["form_post", "jwt"])("is sent to no client by response_mode=%s", async (response_mode) => {
    const path = requestFor("native", loopback, { response_mode });
    const { status, headers, text } = await service.ask(path);
    expect(status).toBe(400);
    expect(headers).not.toHaveProperty("location");
    expect(JSON.parse(text).error_description).toBe("response_mode is query, or not said.");
    const page = await service.ask(path, { headers: asPerson });
    expect(page.headers.location).toBe("/connect?problem=app");
    const said = await owner.open(requestFor("native", loopback, { response_mode: "query" }));
    expect(said.headers.location).toMatch(/\/connect\?request=[\w-]{12}$/);
  });
});
