import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { authorizePath, redeemCode } from "@/tests/support/oauth-libraries";
import { startOutside } from "@/tests/support/outside";
import { answerApp, goOn, readQuestion } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const redirect = "http://127.0.0.1:51000/callback";
const asPerson = { accept: "text/html,*/*" };
/** No redirect address of an app on a computer, nor one of a site. */
const evil = "http://desk.example.com/callback";

type Agent = [name: string, address: string, document: object, redirect: string];
/**
 * The documents that known agents publish of themselves, in the parts that differ, and their redirect addresses.
 * `connectors.drill.ts` has those of Claude and ChatGPT.
 */
const agents: [Agent, Agent, ...Agent[]] = [
  [
    "Claude Code",
    "https://claude.ai/oauth/claude-code-client-metadata",
    {
      redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    },
    "http://localhost:51000/callback",
  ],
  [
    "Codex",
    "https://chatgpt.com/oauth/codex/client.json",
    { redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" },
    redirect,
  ],
  [
    "Copilot CLI",
    "https://github.com/copilot/cli/client-metadata.json",
    { redirect_uris: ["http://127.0.0.1:33418/"] },
    "http://127.0.0.1:63450/",
  ],
  [
    "Visual Studio Code",
    "https://vscode.dev/oauth/client-metadata.json",
    {
      redirect_uris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      application_type: "native",
      token_endpoint_auth_method: "none",
    },
    "https://vscode.dev/redirect",
  ],
  [
    "goose",
    "https://goose-docs.ai/oauth/client-metadata.json",
    { redirect_uris: [evil, "http://127.0.0.1/oauth_callback", "http://[::1]/oauth_callback"] },
    "http://[::1]:51000/oauth_callback",
  ],
];

const listed = (name: string) => `https://apps.example.com/${name}.json`;
const published = { redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" };

/** Documents at listed addresses that cannot be used, and the reason in the log. */
const unusable: [name: string, document: object | undefined, reason: string][] = [
  ["missing", undefined, "unexpected response status 404"],
  ["another", { ...published, client_id: listed("other") }, "client_id does not match the expected value"],
  [
    "unreachable",
    { ...published, redirect_uris: ["http://evil.example/"] },
    "has no redirect URI that is allowed",
  ],
  [
    "keyed",
    { ...published, token_endpoint_auth_method: "private_key_jwt" },
    "offers no token_endpoint_auth_method of none",
  ],
];

const pathOf = (client_id: string, redirect_uri = redirect) => authorizePath(client_id, redirect_uri);

const isAnnounced = async (service: Service) =>
  JSON.parse((await service.ask("/.well-known/oauth-authorization-server")).text)
    .client_id_metadata_document_supported;

describe.each(engines)("the metadata document of an agent, on $name", async (engine) => {
  const clock = makeClock();
  const documents: Record<string, object> = Object.fromEntries(
    agents.map(([client_name, client_id, document]) => [client_id, { client_id, client_name, ...document }]),
  );
  const stage = await startStage(engine);
  const outside = await startOutside(documents);
  afterAll(outside.stop);
  const NODE_OPTIONS = `${outside.environment.NODE_OPTIONS} ${clock.environment.NODE_OPTIONS}`;
  const settings = { ...outside.environment, ...clock.environment, NODE_OPTIONS };
  const service = await startService({ ...stage.environment, ...settings });
  let owner: Browser;
  beforeAll(async () => {
    owner = await Browser.admit(service, email, "--plan", "licensed");
  });

  /** Has the owner approve an agent, which redeems its code. */
  const connect = async (client_id: string, redirect_uri: string) => {
    const back = await answerApp(owner, service, service.url + pathOf(client_id, redirect_uri));
    expect(back.startsWith(`${redirect_uri}?`)).toBe(true);
    return redeemCode(service, client_id, redirect_uri, back);
  };

  it("is accepted at default settings, and said to be", async () => {
    expect(await isAnnounced(service)).toBe(true);
  });

  it("is accepted with the choice of an account, which Copilot CLI asks for", async () => {
    const [[, client_id, , to]] = agents;
    const { status, headers } = await service.ask(`${pathOf(client_id, to)}&prompt=select_account`);
    expect(status).toBe(303);
    expect(headers.location).toMatch(/\/connect\?request=[\w-]{12}$/);
  });

  it.each(agents)(
    "of %s is fetched, and the agent gets a token without a secret",
    async (name, client_id, _, to) => {
      await owner.open(pathOf(client_id, to));
      const { text } = await owner.open("/connect");
      expect(text).toContain(`<bdi>${name}</bdi>`);
      expect(text).toContain(`an app of ${new URL(client_id).host}`);
      const redeemed = await connect(client_id, to);
      expect(redeemed.status).toBe(200);
      expect(outside.asked).toContain(client_id);
    },
  );

  it("is known where its host refuses this server, as claude.ai and chatgpt.com refuse some clouds", async () => {
    const client_id = "https://claude.ai/oauth/mcp-oauth-client-metadata";
    const to = "https://claude.ai/api/mcp/auth_callback";
    expect((await connect(client_id, to)).status).toBe(200);
    expect(outside.asked).toContain(client_id);
    expect((await service.ask(pathOf(client_id, "https://claude.ai/another"))).status).toBe(400);
  });

  it.each(["/oauth/token", "/oauth/revoke"])(
    "is not needed at %s for a token that its agent has: its host may be away",
    async (path) => {
      const [[, client_id, , to]] = agents;
      const { refresh_token } = JSON.parse((await connect(client_id, to)).text);
      await service.stop();
      await service.run();
      outside.asked.length = 0;
      const grant = { grant_type: "refresh_token", refresh_token, token: refresh_token };
      expect((await service.submit(path, { client_id, ...grant })).status).toBe(200);
      expect(outside.asked).toEqual([]);
    },
  );

  it("is not accepted, for a token either, once it is off the operator's list", async () => {
    const [[, client_id, , to]] = agents;
    const { refresh_token } = JSON.parse((await connect(client_id, to)).text);
    const { PORT: _, ...environment } = service.environment;
    const other = await Service.start({ ...environment, CONNECT_CLIENTS: listed("other") });
    const grant = { client_id, grant_type: "refresh_token", refresh_token };
    const { status, text } = await other.submit("/oauth/token", grant);
    expect([status, JSON.parse(text).error]).toEqual([400, "invalid_client"]);
    await other.stop();
    expect((await service.submit("/oauth/token", grant)).status).toBe(200);
  });

  it("is fetched once for a request, however long its owner takes to answer", async () => {
    const [, [, client_id, , to]] = agents;
    await owner.open(pathOf(client_id, to));
    clock.pass(14 * 60_000);
    outside.asked.length = 0;
    expect((await owner.open("/connect")).text).toContain("<bdi>Codex</bdi>");
    expect(outside.asked).toEqual([]);
  });

  it("that is away when its owner looks, at an instance that has not read it, is said to be unreadable", async () => {
    const id = "https://vscode.dev/oauth/client-metadata.json";
    const { [id]: document } = documents;
    await owner.open(pathOf(id, "https://vscode.dev/redirect"));
    await service.stop();
    await service.run();
    delete documents[id];
    const { status, text } = await owner.open("/connect");
    expect(status).toBe(400);
    expect(text).toContain("We could not read the description that the app publishes about itself");
    documents[id] = document ?? {};
    expect((await owner.open("/connect")).text).toContain("an app of vscode.dev");
  });

  it("sends no answer to an address that no one may have, also where it names good ones", async () => {
    const [, client_id = ""] = agents.at(-1) ?? [];
    const { status, headers } = await service.ask(pathOf(client_id, evil));
    expect(status).toBe(400);
    expect(headers).not.toHaveProperty("location");
    expect(outside.asked).toContain(client_id);
  });

  it.each([
    "https://claude.ai/oauth/claude-code-client-metadata/",
    "https://CLAUDE.ai/oauth/claude-code-client-metadata",
    "https://claude.ai:443/oauth/claude-code-client-metadata",
    "https://github.com/stranger/repository/raw/main/client-metadata.json",
  ])("is fetched for a stranger from exactly the listed address, and not from %s", async (client_id) => {
    outside.asked.length = 0;
    await service.ask(pathOf(client_id));
    expect(outside.asked).toEqual([]);
  });
});

describe.each(engines)("an agent whose document is not listed, on $name", async (engine) => {
  const at = (name: string, host = "librechat.example.com") => `https://${host}/${name}.json`;
  const to = "https://librechat.example.com/oauth/callback";
  const document = (client_id: string) => ({ client_id, client_name: "LibreChat", redirect_uris: [to] });
  const late = Promise.withResolvers<object>();
  const [own, slow, another] = [at("client"), at("slow"), at("another")];
  const documents: Record<string, object | Promise<object>> = {
    [own]: document(own),
    [slow]: late.promise,
    [another]: document(own),
    [at("large")]: { ...document(at("large")), padding: "x".repeat(16 * 1024) },
    [at("client", "private.example.com")]: document(at("client", "private.example.com")),
  };
  const clock = makeClock();
  const stage = await startStage(engine);
  const outside = await startOutside(documents);
  afterAll(outside.stop);
  const NODE_OPTIONS = `${outside.environment.NODE_OPTIONS} ${clock.environment.NODE_OPTIONS}`;
  const environment = { ...stage.environment, ...outside.environment, ...clock.environment, NODE_OPTIONS };
  const service = await startService(environment);
  let owner: Browser;
  beforeAll(async () => {
    owner = await Browser.admit(service, email, "--plan", "licensed");
  });

  /** The page at which its owner is asked. */
  const ask = async (client_id: string, redirect_uri = to, browser = owner) => {
    const { headers } = await browser.open(pathOf(client_id, redirect_uri));
    expect(headers.location).toMatch(/\/connect\?request=[\w-]{12}$/);
    return browser.open("/connect");
  };

  it("is not read for a stranger, whose page says where it is described", async () => {
    const { status, text } = await ask(own, to, new Browser(service));
    expect(status).toBe(200);
    expect(text).toContain("<h1>librechat.example.com wants to connect</h1>");
    expect(text).toContain("It is described at librechat.example.com, which we read once you are signed in.");
    expect(outside.asked).toEqual([]);
  });

  it("is read for the owner whom it asks, gets its tokens, and renews them while its host is away", async () => {
    const { text } = await ask(own);
    expect(text).toContain("<bdi>LibreChat</bdi></q>, an app of librechat.example.com");
    const back = await answerApp(owner, service, service.url + pathOf(own, to));
    const redeemed = await redeemCode(service, own, to, back);
    expect(redeemed.status).toBe(200);
    expect(outside.asked).toEqual([own]);
    const { refresh_token } = JSON.parse(redeemed.text);
    await service.stop();
    await service.run();
    const grant = { client_id: own, grant_type: "refresh_token", refresh_token };
    expect((await service.submit("/oauth/token", grant)).status).toBe(200);
    expect(outside.asked).toEqual([own]);
    expect(await service.adminJson("connect", "list")).toMatchObject([
      { id: own, name: "LibreChat", by: "itself" },
    ]);
  });

  it("is read anew for a later request, and while its host is away, what it said before counts", async () => {
    documents[own] = { ...document(own), client_name: "LibreChat 2" };
    clock.pass(16 * 60_000);
    expect((await ask(own)).text).toContain("<bdi>LibreChat 2</bdi>");
    delete documents[own];
    clock.pass(16 * 60_000);
    expect((await ask(own)).text).toContain("<bdi>LibreChat 2</bdi>");
  });

  it("without a name is shown with the host of its document", async () => {
    const unnamed = at("unnamed");
    documents[unnamed] = { client_id: unnamed, redirect_uris: [to], padding: "x".repeat(6 * 1024) };
    expect((await ask(unnamed)).text).toContain(
      "It gave no name. It says that it is an app of librechat.example.com.",
    );
  });

  it("is read anew at once for an address that its document did not name, for it may have changed", async () => {
    const moved = at("moved");
    const newest = "https://librechat.example.com/oauth/newest";
    documents[moved] = document(moved);
    expect((await ask(moved)).status).toBe(200);
    documents[moved] = { ...document(moved), redirect_uris: [newest] };
    clock.pass(11_000);
    expect((await ask(moved, newest)).status).toBe(200);
  });

  it("that was read again lately can be answered, however long ago it was read first", async () => {
    const old = at("old");
    documents[old] = document(old);
    await ask(old);
    clock.pass(dayMs - 60_000);
    await ask(old);
    const question = await readQuestion(owner);
    clock.pass(2 * 60_000);
    const { headers } = await owner.submit("/connect/answer", { ...question, answer: "approve" });
    expect(headers.location).toMatch(/answered=request&outcome=approved/);
    expect((await goOn(owner, headers.location)).headers.location).toMatch(`${to}?code=`);
  });

  it("may say * for any port of its owner's computer, as FastMCP's do, and null for what it lacks", async () => {
    const local = at("local");
    const callback = "http://localhost:51000/callback";
    documents[local] = {
      client_id: local,
      client_name: null,
      redirect_uris: ["http://localhost:*/callback"],
      token_endpoint_auth_method: null,
      client_secret: null,
      logo_uri: null,
    };
    const back = await answerApp(owner, service, service.url + pathOf(local, callback));
    expect((await redeemCode(service, local, callback, back)).status).toBe(200);
    expect((await ask(local, "http://localhost:51000/another")).status).toBe(400);
  });

  it("gets no answer at an address that its document does not name", async () => {
    const { status, text } = await ask(own, "https://evil.example.com/callback");
    expect(status).toBe(400);
    expect(text).toContain("it names an address that the app did not register");
    expect(text).not.toContain("evil.example.com");
    const { request } = await readQuestion(owner);
    expect(request).toBe("");
  });

  it.each([
    ["not there", at("missing"), "unexpected response status 404"],
    ["another client's", another, "client_id does not match the expected value"],
    ["larger than 16 KiB", at("large"), "is larger than 16384 bytes"],
    ["in a private network", at("client", "private.example.com"), "is in no public network"],
  ])("cannot be connected while it is %s, and the log says why", async (_, client_id, reason) => {
    const { status, text } = await ask(client_id);
    expect(status).toBe(400);
    expect(text).toContain("We could not read the description that the app publishes about itself");
    expect(text).toContain(`The app’s description is at <strong>${new URL(client_id).host}</strong>.`);
    await eventually(() => expect(service.log).toContain(reason));
  });

  it("is waited for, and its page looks again", async () => {
    const { status, text } = await ask(slow);
    expect(status).toBe(200);
    expect(text).toContain("We are reading what the app publishes about itself at");
    expect(text).toContain('<meta http-equiv="refresh" content="1"/>');
    late.resolve(document(slow));
    await eventually(async () =>
      expect((await owner.open("/connect")).text).toContain("<bdi>LibreChat</bdi>"),
    );
  });

  it.each([
    ["response_type=code", "response_type=token", "unsupported response_type requested"],
    [/&code_challenge.*/, "", "Authorization Server policy requires PKCE to be used for this request"],
  ])(
    "gets no redirect for an error, as one that registered itself gets none, and a page that says which",
    async (good, bad, why) => {
      const path = pathOf(own, to).replace(good, bad);
      const { status, headers } = await service.ask(path, { headers: asPerson });
      expect(status).toBe(303);
      expect(headers.location).toMatch(/\/connect\?refused=[\w-]+$/);
      const { text } = await service.ask(String(headers.location), { headers: asPerson });
      expect(text).toContain(`For its maker: ${why}.`);
      expect(JSON.parse((await service.ask(path)).text)).toEqual({
        error: "invalid_request",
        error_description: expect.stringContaining(why),
      });
      await eventually(() => expect(service.log).toContain(why));
    },
  );

  it("is read twenty times in ten minutes for one owner at most", async () => {
    clock.pass(11 * 60_000);
    for (let count = 1; count <= 20; count++) expect((await ask(at(`missing-${count}`))).status).toBe(400);
    expect((await ask(at("missing-21"))).status).toBe(429);
    expect(outside.asked).not.toContain(at("missing-21"));
  });

  it("is refused as not listed where apps may not register themselves", async () => {
    const { PORT: _, ...others } = service.environment;
    const other = await Service.start({ ...others, CONNECT_REGISTRATION: "off" });
    const { headers } = await other.ask(pathOf(own, to), { headers: asPerson });
    expect(headers.location).toMatch(/^\/connect\?problem=unlisted&host=[\w-]+$/);
    await other.stop();
  });
});

describe.each(engines)("an app that is refused, on $name", async (engine) => {
  const documents = unusable.flatMap(([name, document]) =>
    document ? [[listed(name), { client_id: listed(name), ...document }]] : [],
  );
  const stage = await startStage(engine);
  const outside = await startOutside(Object.fromEntries(documents));
  afterAll(outside.stop);
  const CONNECT_CLIENTS = unusable.map(([name]) => listed(name)).join(", ");
  const service = await startService({ ...stage.environment, ...outside.environment, CONNECT_CLIENTS });

  /** Asks as a person's browser would. Returns the page at the end, and the log line of the refusal. */
  async function refuse(client_id: string) {
    const id = randomUUID();
    const asked = await service.ask(pathOf(client_id), { headers: { ...asPerson, "x-request-id": id } });
    expect(asked.status).toBe(303);
    const page = await service.ask(String(asked.headers.location), { headers: asPerson });
    expect(page.status).toBe(400);
    const logged = await eventually(() => {
      const line = service.log.split("\n").find((line) => line.includes(id) && line.includes("refused: "));
      return JSON.parse(line ?? expect.fail("it is not logged yet"));
    });
    const program = await service.ask(pathOf(client_id));
    // mcp-remote and Open WebUI register anew at this error, and at no other.
    const { error, error_description: message } = JSON.parse(program.text);
    expect([program.status, error]).toEqual([400, "invalid_client"]);
    return { page, logged, message };
  }

  it("because its document is not listed gets a page that says so, and who can list it", async () => {
    const client_id = "https://evil.example/<script>alert(1)</script>.json";
    const { page, logged, message } = await refuse(client_id);
    expect(page.text).toContain(
      "The app that sent you here is not on the list of apps that this site accepts.",
    );
    expect(page.text).toContain("The app’s description is at <strong>evil.example</strong>.");
    expect(page.text).toContain("<code>CONNECT_CLIENTS</code>");
    expect(page.text).not.toContain("alert(1)");
    expect(logged).toMatchObject({
      client: client_id,
      msg: "refused: the app's metadata document is not in CONNECT_CLIENTS",
    });
    expect(message).toBe("Refused: the app's metadata document is not in CONNECT_CLIENTS.");
  });

  it.each(unusable)(
    "because its document is %s gets a page that says so, and the log the reason",
    async (name, _, why) => {
      const { page, logged, message } = await refuse(listed(name));
      expect(page.text).toContain("We could not read the description that the app publishes about itself");
      expect(page.text).toContain("The app’s description is at <strong>apps.example.com</strong>.");
      expect(logged).toMatchObject({
        client: listed(name),
        reason: expect.stringContaining(why),
        msg: "refused: the app's metadata document could not be fetched or used",
      });
      expect(message).toBe("Refused: the app's metadata document could not be fetched or used.");
    },
  );

  it.each([`app_${"a".repeat(5000)}`, "<img src=x onerror=alert(1)>"])(
    "because it is unknown gets a page that says so: %s",
    async (client_id) => {
      const { page, logged, message } = await refuse(client_id);
      expect(page.text).toContain("It never registered with this site, or its registration has expired.");
      expect(page.text).not.toContain(client_id);
      expect(logged).toMatchObject({
        client: client_id.slice(0, 400),
        msg: "refused: the app never registered, or its registration has expired",
      });
      expect(message).toBe("Refused: the app never registered, or its registration has expired.");
    },
  );

  it("gets no host on our page that a link has made up", async () => {
    const { headers } = await service.ask(pathOf("https://evil.example/c.json"), { headers: asPerson });
    const sealed = headers.location?.split("=").at(-1) ?? "";
    for (const path of [
      "/connect?problem=unlisted&host=evil.example",
      `/connect?problem=unlisted&host=${sealed.slice(1)}`,
      `/connect?refused=${sealed}`,
    ]) {
      const { status, text } = await service.ask(path);
      expect(status, path).not.toBe(500);
      expect(text, path).not.toContain("evil.example");
    }
  });
});

// The setting is read before any store.
it("a service that fetches no metadata documents does not announce them, and refuses all as not listed", async () => {
  const service = await Service.start({ SIGN_IN: "local", CONNECT_CLIENTS: "none" });
  expect(await isAnnounced(service)).toBeUndefined();
  const path = pathOf("https://claude.ai/oauth/claude-code-client-metadata");
  const { headers } = await service.ask(path, { headers: asPerson });
  expect(headers.location).toMatch(/^\/connect\?problem=unlisted&host=[\w-]+$/);
  await service.stop();
});
