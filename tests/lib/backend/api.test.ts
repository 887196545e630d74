import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

describe.each(engines)("the backend API on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService(await withBackendApi(stage.environment));
  const worker = await BackendCaller.add(service, "worker");
  const reader = await BackendCaller.add(service, "reader", "read");

  let people = 0;
  const addAccount = (credits: number, ...more: string[]) =>
    service.adminJson<{ id: string; email: string }>(
      ...["account", "add", `ceo${people++}@example.com`, "--credits", String(credits), ...more],
    );
  const read = async (path: string) => {
    const { status, text } = await worker.get(path);
    expect(status).toBe(200);
    return JSON.parse(text);
  };
  const write = async (path: string, body: unknown, key?: string) => {
    const { status, text } = await worker.post(path, body, key);
    return { status, ...JSON.parse(text) };
  };

  it("answers nothing at the public address, and only itself at its own", async () => {
    expect((await service.ask("/v1/accounts")).status).toBe(404);
    for (const path of ["/", "/v1", "/api/health", "/v1/accounts/", "/v1//accounts"]) {
      const { status, headers, text } = await worker.get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers["content-type"]).toBe("application/json");
      expect(JSON.parse(text).error.code).toBe("not_found");
    }
    const { status, headers } = await worker.send("/v1/accounts", { method: "DELETE" });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
    expect(headers).not.toHaveProperty("api-version");
    expect(headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  });

  it("says what is wrong with an assertion", async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const other = generateKeyPairSync("ed25519").privateKey;
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const stranger = new BackendCaller(service, "worker", other);
    const signer = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const file = join(service.dataDir, "der");
    writeFileSync(file, signer.publicKey.export({ type: "spki", format: "pem" }));
    await service.adminJson("backend", "add", "der", "--public-key", file);
    const derText = (await new BackendCaller(service, "der", signer.privateKey).sign({}, "ES256"))
      .split(".")
      .slice(0, 2)
      .join(".");
    const derToken = `${derText}.${sign("sha256", Buffer.from(derText), signer.privateKey).toString("base64url")}`;
    const cases: [string | undefined, string][] = [
      [undefined, "There is no assertion."],
      ["Basic d29ya2VyOg==", "The assertion is no JWT: three parts"],
      ["Bearer a.b.c", "The assertion is no JWT: three parts"],
      [`Bearer ${await worker.sign()}==`, "in base64url without '='."],
      [
        `Bearer ${await worker.sign({ exp: String(nowSeconds + 60) })}`,
        "'exp' of the assertion must be a number",
      ],
      [`Bearer ${await worker.sign({ exp: (nowSeconds + 60) * 1000 })}`, "is more than 300 seconds ahead"],
      [`Bearer ${derToken}`, "The signature of the assertion must have 64 bytes"],
      [`Bearer ${await worker.sign({ iss: "unknown" })}`, "The 'iss' of the assertion is no backend"],
      [`Bearer ${await stranger.sign()}`, "No key of this backend signed the assertion."],
      [
        `Bearer ${await worker.sign({ aud: service.url })}`,
        `The 'aud' of the assertion must be ${worker.url}.`,
      ],
      [
        `Bearer ${await worker.sign({ exp: nowSeconds - 60 })}`,
        "has expired or is not valid yet, by its 'exp'",
      ],
      [
        `Bearer ${await worker.sign({ nbf: nowSeconds + 60 })}`,
        "has expired or is not valid yet, by its 'nbf'",
      ],
      [`Bearer ${await worker.sign({ exp: undefined })}`, "The assertion has no 'exp'."],
      [`Bearer ${await worker.sign({ exp: nowSeconds + 400 })}`, "is more than 300 seconds ahead"],
      [
        `Bearer ${await new BackendCaller(service, "worker", ec).sign({}, "ES256")}`,
        "The 'alg' of the assertion must be EdDSA",
      ],
    ];
    for (const [authorization, words] of cases) {
      const { status, headers, text } = await worker.send("/v1/accounts", {
        headers: authorization === undefined ? {} : { authorization },
      });
      const { error } = JSON.parse(text);
      expect([status, error.code, error.docs]).toEqual([
        401,
        "invalid_assertion",
        `${worker.url}/docs#invalid_assertion`,
      ]);
      expect(error.message).toContain(words);
      expect(headers["www-authenticate"]).toBe('Bearer realm="corner-office", error="invalid_token"');
    }
    const owner = await addAccount(1);
    const token = await service.token(owner.email);
    const { status } = await worker.send("/v1/accounts", { headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(401);
    expect(await service.statusFor(await worker.sign())).toBe(401);
    await service.adminJson("backend", "remove", "der");
  });

  it("takes two keys of a backend, from PEM and JWK, until it is removed, and audits that", async () => {
    const first = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const second = generateKeyPairSync("ed25519");
    const third = generateKeyPairSync("ed25519");
    const file = join(service.dataDir, "key");
    writeFileSync(file, first.publicKey.export({ type: "spki", format: "pem" }));
    const added = await service.adminJson("backend", "add", "meter", "--public-key", file);
    expect(added).toEqual({
      id: "meter",
      may: ["read"],
      keys: [{ kid: expect.stringMatching(/^[\w-]{43}$/), addedAt: expect.any(String) }],
      addedAt: expect.any(String),
    });
    const asks = async (key: typeof first.privateKey, alg?: string) => {
      const caller = new BackendCaller(service, "meter", key);
      const headers = { authorization: `Bearer ${await caller.sign({}, alg)}` };
      return (await caller.send("/v1/accounts", { headers })).status;
    };
    const rotate = async (publicKey: typeof first.publicKey) => {
      writeFileSync(file, JSON.stringify(publicKey.export({ format: "jwk" })));
      await service.adminJson("backend", "rotate", "meter", "--public-key", file);
    };
    // What changes is seen within a second.
    const becomes = (key: typeof first.privateKey, status: number, alg?: string) =>
      eventually(async () => expect(await asks(key, alg)).toBe(status));
    await becomes(first.privateKey, 200, "ES256");
    await rotate(second.publicKey);
    await becomes(second.privateKey, 200);
    expect(await asks(first.privateKey, "ES256")).toBe(200);
    await rotate(third.publicKey);
    await becomes(third.privateKey, 200);
    await becomes(first.privateKey, 401, "ES256");
    for (const [text, words] of [
      [second.privateKey.export({ type: "pkcs8", format: "pem" }), "no public key"],
      [
        generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ type: "spki", format: "pem" }),
        "no public key",
      ],
      [createPublicKey(third.privateKey).export({ type: "spki", format: "pem" }), "This key is in use."],
    ] as const) {
      writeFileSync(file, String(text));
      const refused = await service.admin("backend", "add", "another", "--public-key", file);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(words)]);
    }
    expect((await service.admin("backend", "add", "meter")).code).toBe(1);
    await service.adminJson("backend", "remove", "meter");
    expect((await service.admin("backend", "remove", "meter")).code).toBe(1);
    await becomes(third.privateKey, 401);
    const listed = await service.adminJson<{ id: string }[]>("backend", "list");
    expect(listed.map(({ id }) => id)).toEqual(["reader", "worker"]);
    const audit = await service.adminJson<{ what: string; whom: string }[]>("audit", "list");
    expect(audit.flatMap(({ what, whom }) => (whom === "meter" ? what : []))).toEqual([
      "backend remove",
      "backend rotate",
      "backend rotate",
      "backend add",
    ]);
  });

  it("reads accounts by id, email and page, each with what it can spend", async () => {
    const { id, email } = await addAccount(2.5, "--plan", "licensed", "--assistant-limit", "4");
    const account = {
      id,
      email,
      reference: null,
      status: "licensed",
      plan: "licensed",
      trialEndsAt: null,
      assistantLimit: 4,
      features: [],
      limits: { assistants: 4 },
      ownFeatures: null,
      ownLimits: null,
      givenEndsAt: null,
      balance: 2.5,
      held: 0,
      createdAt: expect.any(String),
    };
    expect(await read(`/v1/accounts/${id}`)).toEqual(account);
    expect(await read(`/v1/accounts?email=${email.toUpperCase()}`)).toEqual({
      accounts: [account],
      next: null,
    });
    expect(await read("/v1/accounts?reference=none")).toEqual({ accounts: [], next: null });
    const { accounts, next } = await read("/v1/accounts?limit=1");
    expect([accounts.length, next]).toEqual([1, accounts[0].id]);
    const rest = await read(`/v1/accounts?after=${next}`);
    expect(rest.accounts.map(({ id }: { id: string }) => id)).not.toContain(next);
    expect(JSON.parse((await worker.get("/v1/accounts/acc_none")).text).error.code).toBe("account_not_found");
    expect((await worker.get("/v1/accounts?limit=0")).status).toBe(400);
  });

  // supertokens/supertokens-core#1148, FusionAuth/fusionauth-netcore-client#59
  it("finds an account by its email however a backend writes that into the query", async () => {
    await service.adminJson("account", "add", "ceo+works@xn--exmple-cua.com");
    for (const email of [
      "ceo%2Bworks@xn--exmple-cua.com",
      "ceo+works@xn--exmple-cua.com",
      "ceo%20works%40xn--exmple-cua.com",
      `CEO+Works@${encodeURIComponent("exämple.com")}`,
      "%20ceo+works@xn--exmple-cua.com%20",
    ]) {
      const { accounts } = await read(`/v1/accounts?email=${email}`);
      expect(
        accounts.map((account: { email: string }) => account.email),
        email,
      ).toEqual(["ceo+works@xn--exmple-cua.com"]);
    }
    expect(await read("/v1/accounts?email=no+one")).toEqual({ accounts: [], next: null });
  });

  it("lists what each plan contains, and says of an account and in a check what its owner has", async () => {
    await service.adminJson(
      ..."plan set studio --title Studio --feature voice --limit assistants=7 --limit seats=none".split(" "),
      ...["--credits", "12.5", "--description", "For a studio."],
    );
    await service.adminJson("plan", "retire", "studio");
    const { plans, next } = await read("/v1/plans");
    expect([plans.map(({ name }: { name: string }) => name), next]).toEqual([
      ["trial", "hobby", "licensed", "studio"],
      null,
    ]);
    expect(plans[0]).toMatchObject({ title: "Trial", features: [], isOffered: true });
    expect(plans[3]).toEqual({
      name: "studio",
      title: "Studio",
      description: "For a studio.",
      features: ["voice"],
      featureTitles: { voice: "Voice" },
      limits: { assistants: 7, seats: null },
      creditsAMonth: 12.5,
      isOffered: false,
    });
    const [first, second] = [await read("/v1/plans?limit=2"), await read("/v1/plans?after=hobby&limit=2")];
    expect([first.next, second.next]).toEqual(["hobby", null]);
    expect([...first.plans, ...second.plans]).toEqual(plans);
    await service.adminJson("plan", "set", "studio", "--offer");
    const { id, email } = await addAccount(1, "--plan", "studio");
    await service.adminJson("account", "set", email, "--feature", "video", "--limit", "projects=50");
    const has = {
      plan: "studio",
      assistantLimit: 7,
      features: ["voice", "video"],
      limits: { assistants: 7, seats: null, projects: 50 },
    };
    const own = { ownFeatures: ["video"], ownLimits: { projects: 50 } };
    expect(await read(`/v1/accounts/${id}`)).toMatchObject({ status: "licensed", ...has, ...own });
    const token = await service.token(email);
    expect(await write("/v1/checks", { token })).toMatchObject({ ok: true, status: "licensed", ...has });
  });

  it("finds an account by your own name for it, which no other has", async () => {
    const [one, other] = [await addAccount(1), await addAccount(1)];
    const set = (id: string, reference: string | null, key?: string) =>
      write(`/v1/accounts/${id}/reference`, { reference }, key);
    expect(await set(one.id, "customer 7", "name")).toMatchObject({ id: one.id, reference: "customer 7" });
    expect(await read("/v1/accounts?reference=customer%207")).toMatchObject({ accounts: [{ id: one.id }] });
    expect(await set(other.id, "customer 7")).toMatchObject({
      status: 409,
      error: { code: "reference_taken" },
    });
    expect(await set(one.id, null)).toMatchObject({ reference: null });
    expect(await set(other.id, "customer 7")).toMatchObject({ id: other.id });
    // A late repetition changes nothing.
    expect(await set(one.id, "customer 7", "name")).toMatchObject({ id: one.id, reference: "customer 7" });
    expect(await read(`/v1/accounts/${one.id}`)).toMatchObject({ reference: null });
    // An operator's command gives it too, and takes it away.
    const byCommand = (email: string, reference: string) =>
      service.admin("account", "set", email, "--reference", reference);
    expect((await byCommand(one.email, "customer 7")).stderr).toContain(
      "Another account has this reference.",
    );
    expect((await byCommand(one.email, "customer 8")).code).toBe(0);
    expect(await read("/v1/accounts?reference=customer%208")).toMatchObject({ accounts: [{ id: one.id }] });
    expect((await byCommand(one.email, "none")).code).toBe(0);
    expect(await read(`/v1/accounts/${one.id}`)).toMatchObject({ reference: null });
    expect((await byCommand(one.email, "a\nb")).stderr).toContain(
      "It must be one line of 1 to 200 characters",
    );
    expect(await set("acc_none", "x")).toMatchObject({ status: 404, error: { code: "account_not_found" } });
    const exported = await service.adminJson<{ account: object }>("person", "export", other.email);
    expect(exported.account).toMatchObject({ reference: "customer 7", heldCredits: 0 });
    const audit = await service.adminJson<{ who: string; what: string }[]>(
      "audit",
      "list",
      "--who",
      "backend worker",
    );
    expect(audit.map(({ what }) => what)).toEqual(Array(3).fill("account reference"));
  });

  it("spends, holds, settles, releases and reverses", async () => {
    const { id } = await addAccount(10);
    const spent = await write(`/v1/accounts/${id}/spends`, {
      credits: "0.125",
      reason: "A page",
      reference: "job 7",
    });
    expect(spent).toEqual({
      status: 200,
      id: expect.any(String),
      account: id,
      credits: -0.125,
      createdAt: expect.any(String),
      balance: 9.875,
    });
    const held = await write(`/v1/accounts/${id}/holds`, {
      credits: 9,
      reason: "A film",
      expiresInSeconds: 60,
    });
    expect(held).toMatchObject({ status: 200, state: "open", credits: 9, balance: 0.875 });
    expect(await write(`/v1/accounts/${id}/spends`, { credits: 1, reason: "A page" })).toEqual({
      status: 409,
      balance: 0.875,
      error: {
        code: "insufficient_credits",
        message: "The account has too few credits.",
        hint: expect.any(String),
        docs: `${worker.url}/docs#insufficient_credits`,
      },
    });
    const token = await service.token((await read(`/v1/accounts/${id}`)).email);
    const balance = await service.ask("/api/credits/balance", {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(JSON.parse(balance.text)).toEqual({ credits: 0.875 });
    expect(await write(`/v1/holds/${held.id}/settle`, { credits: "4.5" })).toMatchObject({
      id: held.id,
      state: "settled",
      balance: 5.375,
    });
    const other = await write(`/v1/accounts/${id}/holds`, {
      credits: 1,
      reason: "A song",
      expiresInSeconds: 1,
    });
    expect(await write(`/v1/holds/${other.id}/release`, {})).toMatchObject({
      state: "released",
      balance: 5.375,
    });
    expect(
      await write(`/v1/entries/${spent.id}/reverse`, { credits: 0.1, reason: "It failed" }),
    ).toMatchObject({
      credits: 0.1,
      balance: 5.475,
    });
    const { entries, next, balance: now } = await read(`/v1/accounts/${id}/entries?limit=3`);
    expect(entries.map(({ credits }: { credits: number }) => credits)).toEqual([10, -0.125, -4.5]);
    expect(now).toBe(5.475);
    const later = await read(`/v1/accounts/${id}/entries?after=${next}`);
    expect(later.entries).toEqual([
      expect.objectContaining({ credits: 0.1, reason: "It failed", reference: "job 7", backend: "worker" }),
    ]);
    const all = await read("/v1/entries?after=&limit=1000");
    expect(all.entries.map(({ id }: { id: string }) => id)).toContain(spent.id);
    expect((await read(`/v1/entries?after=${all.next}`)).entries).toEqual([]);
  });

  it("takes null in an optional field as if it were absent, and nowhere else", async () => {
    const { id, email } = await addAccount(10);
    const spend = { credits: 1, reason: "A page", reference: null };
    const spent = await write(`/v1/accounts/${id}/spends`, spend);
    expect(spent).toMatchObject({ status: 200, balance: 9 });
    const held = await write(`/v1/accounts/${id}/holds`, { ...spend, expiresInSeconds: 60 });
    expect(await write(`/v1/holds/${held.id}/settle`, { credits: null })).toMatchObject({ balance: 8 });
    const other = await write(`/v1/accounts/${id}/holds`, { ...spend, expiresInSeconds: 60 });
    expect(await write(`/v1/holds/${other.id}/release`, null)).toMatchObject({ balance: 8 });
    const third = await write(`/v1/accounts/${id}/holds`, { ...spend, expiresInSeconds: 60 });
    // As PHP writes an empty array.
    expect(await write(`/v1/holds/${third.id}/release`, [])).toMatchObject({ status: 200, balance: 8 });
    const reversed = { credits: null, reason: "It failed" };
    expect(await write(`/v1/entries/${spent.id}/reverse`, reversed)).toMatchObject({
      credits: 1,
      balance: 9,
    });
    const spends = [{ account: id, ...spend }];
    expect(await write("/v1/batches", { spends, all: null })).toMatchObject({ results: [{ balance: 8 }] });
    const none = { proof: null, resource: null, spend: null, hold: null };
    const token = await service.token(email);
    expect(await write("/v1/checks", { token, ...none })).toMatchObject({ ok: true });
    expect(await write("/v1/checks", { token, ...none, spend })).toMatchObject({ entry: { balance: 7 } });
    for (const body of [
      { ...spend, reason: null },
      { ...spend, credits: null },
      { ...spend, unknown: null },
    ])
      expect(await write(`/v1/accounts/${id}/spends`, body)).toMatchObject({
        status: 400,
        error: { code: "invalid_request" },
      });
  });

  it("answers a repeated key byte for byte, and refuses a write without one", async () => {
    const { id } = await addAccount(3);
    const path = `/v1/accounts/${id}/spends`;
    const body = { credits: 1, reason: "A page" };
    const answers = await Promise.all([1, 2, 3].map(() => worker.post(path, body, "once")));
    answers.push(await worker.post(path, body, "once"));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(JSON.parse(answers[0]?.text ?? "").balance).toBe(2);
    expect(await write(path, { ...body, credits: 2 }, "once")).toMatchObject({
      status: 422,
      error: { code: "key_reused" },
    });
    const other = await BackendCaller.add(service, "other");
    // A new one may be refused for a tenth of a second.
    await eventually(async () => expect((await other.get("/v1/plans")).status).toBe(200));
    const ofOther = await other.post(path, body, "once");
    expect(JSON.parse(ofOther.text).balance, "the same key of another backend").toBe(1);
    const named = await other.post(`/v1/accounts/${id}/reference`, { reference: "theirs" }, "once");
    expect(JSON.parse(named.text).reference, "the same key at another address").toBeUndefined();
    await worker.post(`/v1/accounts/${id}/reference`, { reference: "ours" }, "name of both");
    const both = await other.post(`/v1/accounts/${id}/reference`, { reference: "theirs" }, "name of both");
    expect(JSON.parse(both.text).reference).toBe("theirs");
    const again = await worker.post(path, body, "once, once");
    expect(again.text, "the field was added once more at the next attempt").toBe(answers[0]?.text);
    expect((await write(path, body, "once, twice")).error.message).toBe(
      "There are several Idempotency-Keys, or one with a comma.",
    );
    const headers = { authorization: `Bearer ${await worker.sign()}` };
    const without = await worker.send(path, { method: "POST", headers, body: JSON.stringify(body) });
    expect([without.status, JSON.parse(without.text).error.message]).toEqual([
      400,
      "The Idempotency-Key is missing.",
    ]);
    expect((await worker.post(path, body, "x".repeat(255))).status).toBe(200);
    expect(JSON.parse((await worker.post(path, body, "x".repeat(256))).text).error.message).toBe(
      "The Idempotency-Key is longer than 255 characters.",
    );
  });

  it.each([
    ["{", "The body is not JSON in UTF-8."],
    ["[1]", "The body must be of the type object."],
    ['{"credits":1}', "'reason' is missing."],
    ['{"credits":1,"reason":2}', "'reason' must be of the type string."],
    ['{"credits":1,"reason":""}', "'reason' must not be empty."],
    [`{"credits":1,"reason":"${"x".repeat(501)}"}`, "'reason' must have at most 500 characters."],
    ['{"credits":0.30000000000000004,"reason":"x"}', "'credits' must be an amount"],
    ['{"credits":0,"reason":"x"}', "'credits' must be more than 0."],
    ['{"reason":"x"}', "'credits' is missing."],
    ['{"credits":1,"reason":"x","refrence":"y"}', "The body has a field that is not listed: refrence."],
    ['{"credits":1,"reason":"a\\u0000b"}', "'reason' must be one line without control characters."],
    ['{"credits":1,"reason":"\\ud800"}', "'reason' must be one line without control characters."],
  ])("refuses the body %s with 400", async (body, words) => {
    const { status, text } = await worker.post("/v1/accounts/acc_x/spends", body);
    const { code, message } = JSON.parse(text).error;
    expect([status, code]).toEqual([400, "invalid_request"]);
    expect(message).toContain(words);
  });

  it("lets a backend that may only read write nothing", async () => {
    const { id, email } = await addAccount(1);
    const { status, text } = await reader.post(`/v1/accounts/${id}/spends`, { credits: 1, reason: "A page" });
    expect([status, JSON.parse(text).error.code]).toEqual([403, "forbidden"]);
    expect((await reader.get(`/v1/accounts/${id}`)).status).toBe(200);
    const token = await service.token(email);
    expect((await reader.post("/v1/checks", { token })).status).toBe(200);
    const cost = { token, spend: { credits: 1, reason: "A page" } };
    expect((await reader.post("/v1/checks", cost)).status).toBe(403);
  });

  it("checks an owner's token as the public operation does, and spends or holds with it", async () => {
    const { id, email } = await addAccount(3, "--plan", "licensed", "--assistant-limit", "4");
    const token = await service.token(email);
    const shown = {
      ok: true,
      status: "licensed",
      plan: "licensed",
      assistantLimit: 4,
      features: [],
      limits: { assistants: 4 },
      recheckAfterSeconds: expect.any(Number),
    };
    expect(await write("/v1/checks", { token })).toEqual({ ...shown, status: "licensed" });
    const spend = { token, spend: { credits: 1, reason: "A page" } };
    const first = await worker.post("/v1/checks", spend, "check");
    expect(JSON.parse(first.text)).toEqual({
      ...shown,
      entry: expect.objectContaining({ account: id, credits: -1, balance: 2 }),
    });
    expect((await worker.post("/v1/checks", spend, "check")).text).toBe(first.text);
    const hold = { token, hold: { credits: 2, reason: "A film", expiresInSeconds: 60 } };
    expect(await write("/v1/checks", hold)).toMatchObject({ ok: true, hold: { state: "open", balance: 0 } });
    expect(await write("/v1/checks", spend)).toMatchObject({
      status: 409,
      error: { code: "insufficient_credits" },
    });
    // A denial is the operation's own, and charges nothing.
    await service.adminJson("account", "set", email, "--plan", "trial", "--trial-ends", "2020-01-01");
    const denied = await worker.post("/v1/checks", spend);
    const asked = await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } });
    expect([denied.status, denied.text]).toEqual([403, asked.text]);
    expect(denied.text).toContain('"status":"trial-ended"');
    // The first answer is still that.
    expect((await worker.post("/v1/checks", spend, "check")).text).toBe(first.text);
    const bad = await worker.post("/v1/checks", { ...spend, token: "none" });
    expect([bad.status, JSON.parse(bad.text)]).toMatchObject([401, { ok: false, status: "signed-out" }]);
    expect((await read(`/v1/accounts/${id}`)).balance).toBe(0);
  });

  it("takes a thousand spends at once, each for itself or as a whole", async () => {
    const [one, other] = [await addAccount(900), await addAccount(1)];
    const spends = Array.from({ length: 999 }, (_, at) => ({
      account: at % 3 ? one.id : other.id,
      credits: 1,
      reason: "A minute",
    }));
    const all = { spends, all: true };
    expect(await write("/v1/batches", all)).toMatchObject({
      status: 409,
      index: 3,
      error: { code: "insufficient_credits" },
    });
    const { results } = await write("/v1/batches", { spends });
    expect(results).toHaveLength(999);
    expect(results[0]).toMatchObject({ account: other.id, balance: 0 });
    expect(results[1]).toMatchObject({ account: one.id, balance: 899 });
    expect(results[3]).toMatchObject({ balance: 0, error: { code: "insufficient_credits" } });
    expect((await read(`/v1/accounts/${one.id}`)).balance).toBe(900 - 666);
    const tooMany = Array.from({ length: 1001 }, () => spends[0]);
    const refused = await worker.post("/v1/batches", { spends: tooMany });
    expect([refused.status, JSON.parse(refused.text).error.message]).toEqual([
      400,
      "'spends' must have at most 1000 items.",
    ]);
  });

  it("answers 503 while the store is away, and the repetition finds the truth", async () => {
    const { id } = await addAccount(3);
    const body = { credits: 1, reason: "A page" };
    stage.freeze();
    const away = await worker.post(`/v1/accounts/${id}/spends`, body, "frozen");
    stage.thaw();
    expect(away.status).toBe(503);
    expect(Number(away.headers["retry-after"])).toBeGreaterThan(0);
    expect(await write(`/v1/accounts/${id}/spends`, body, "frozen")).toMatchObject({
      status: 200,
      balance: 2,
    });
    expect(await write(`/v1/accounts/${id}/spends`, body, "frozen")).toMatchObject({
      status: 200,
      balance: 2,
    });
  });
});
