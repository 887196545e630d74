import { describe, expect, it } from "vitest";
import { type BackendName, backendRoutes } from "@/lib/backend/addresses";
import { bodyLimits } from "@/lib/config/limits";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";

/* Each answer is compared with the description where it is received, and `contract.test.ts` looks for those that are missing. */

const names = Object.keys(backendRoutes) as BackendName[];
const writes = names.filter((name) => backendRoutes[name].methods[0] === "POST");
const lists = ["accounts", "accountEntries", "entries", "events", "plans"] as const;

describe("every address of the backend API", async () => {
  const service = await startService(await withBackendApi({ SIGN_IN: "local" }));
  const worker = await BackendCaller.add(service, "worker");
  const callers = {
    read: await BackendCaller.add(service, "spender", "spend"),
    spend: await BackendCaller.add(service, "reader", "read"),
  };
  const pathTo = (name: BackendName, id = "none") => backendRoutes[name].path.replace("{id}", id);
  const addAccount = (email: string, ...options: string[]) =>
    service.adminJson<{ id: string }>("account", "add", email, ...options);
  const call = async (
    name: BackendName,
    body: unknown = {},
    { id = "none", caller = worker, key = "" } = {},
  ) => {
    const isWrite = backendRoutes[name].methods[0] === "POST";
    const path = pathTo(name, id);
    const answer = isWrite ? await caller.post(path, body, key || undefined) : await caller.get(path);
    return { ...JSON.parse(answer.text), http: answer.status };
  };
  const refuses = async (answer: Promise<object>, status: number, code: string, more = {}) =>
    expect(await answer).toMatchObject({ ...more, http: status, error: { code } });

  it.each(names)("%s refuses who has not signed, may not do this, or uses another method", async (name) => {
    const { methods, needs } = backendRoutes[name];
    const [method] = methods;
    for (const [sent, status, code] of [
      [{ method }, 401, "invalid_assertion"],
      [{ method: "DELETE" }, 405, "method_not_allowed"],
    ] as const) {
      const answer = await worker.send(pathTo(name), { ...sent, ...(method === "POST" && { body: "{}" }) });
      const { error } = JSON.parse(answer.text);
      expect([answer.status, error.code, error.docs]).toEqual([status, code, `${worker.url}/docs#${code}`]);
    }
    await refuses(call(name, {}, { caller: callers[needs] }), 403, "forbidden");
  });

  it.each(writes)("%s refuses a body that it does not know, or that is too large", async (name) => {
    await refuses(call(name, { unknown: 1 }), 400, "invalid_request");
    const longest = name === "batches" ? bodyLimits.batch : bodyLimits.write;
    await refuses(call(name, `"${"x".repeat(longest)}"`), 413, "too_large");
  });

  it.each(lists)(
    "%s refuses a limit that is none, and a name that it does not know or has twice",
    async (name) => {
      for (const [query, words] of [
        ["limit=none", "'limit' of the query must be of the type number."],
        ["limit=1001", "'limit' of the query must be at most 1000."],
        ["limit=0", "'limit' of the query must be at least 1."],
        ["emial=ceo@example.com", "The query has a field that is not listed: emial."],
        ["limit=1&limit=2", "A name is in the query more than once."],
      ] as const) {
        const { status, text } = await worker.get(`${pathTo(name)}?${query}`);
        const { code, message } = JSON.parse(text).error;
        expect([status, code, message]).toEqual([400, "invalid_request", expect.stringContaining(words)]);
      }
    },
  );

  it("refuses to list the accounts after what is no id of one", async () => {
    for (const after of ["null", "undefined", "None", "5"]) {
      const { status, text } = await worker.get(`/v1/accounts?after=${after}`);
      expect([after, status, JSON.parse(text).error.message]).toEqual([
        after,
        400,
        "'after' of the query must be the id of an account.",
      ]);
    }
    expect((await worker.get("/v1/accounts?after=acc_that_is_gone")).status).toBe(200);
  });

  it("finds nothing at a path with a typing error, whatever body it gets", async () => {
    for (const path of ["/v1/batch", "/v1/accounts/none/spend", "/v1/accounts/none/spends/", "/accounts"]) {
      const { status, text } = await worker.send(path, { method: "POST", body: "x".repeat(100_000) });
      expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, "not_found"]);
    }
  });

  it("refuses what does not exist", async () => {
    const cost = { credits: 1, reason: "A page" };
    const missing: [BackendName, object, string][] = [
      ["account", {}, "account_not_found"],
      ["accountEntries", {}, "account_not_found"],
      ["spends", cost, "account_not_found"],
      ["holds", { ...cost, expiresInSeconds: 60 }, "account_not_found"],
      ["reference", { reference: "x" }, "account_not_found"],
      ["batches", { spends: [{ ...cost, account: "none" }], all: true }, "account_not_found"],
      ["settle", {}, "hold_not_found"],
      ["release", {}, "hold_not_found"],
      ["reverse", { reason: "It failed" }, "entry_not_found"],
    ];
    for (const [name, body, code] of missing) await refuses(call(name, body), 404, code);
    const { id } = await addAccount("after@example.com");
    for (const path of [pathTo("accountEntries", id), pathTo("entries")]) {
      const { status, text } = await worker.get(`${path}?after=none`);
      expect([status, JSON.parse(text).error.code]).toEqual([404, "entry_not_found"]);
    }
  });

  it("refuses to list what follows a plan that does not exist", async () => {
    const { status, text } = await worker.get("/v1/plans?after=none");
    expect([status, JSON.parse(text).error.code]).toEqual([404, "plan_not_found"]);
  });

  it("says that the events after an unknown one are gone", async () => {
    const { status, text } = await worker.get("/v1/events?after=none");
    expect([status, JSON.parse(text).error.code]).toEqual([410, "events_gone"]);
  });

  it("refuses what the ledger does not have, with figures, and another body for the same key", async () => {
    const email = "ceo@example.com";
    const { id } = await addAccount(email, "--credits", "10", "--plan", "licensed");
    const token = await service.token(email);
    const cost = (credits: number) => ({ credits, reason: "A page" });
    const held = (credits: number) => ({ ...cost(credits), expiresInSeconds: 60 });
    const spent = await call("spends", cost(1), { id, key: "spends" });
    const [one, other] = [
      await call("holds", held(1), { id, key: "holds" }),
      await call("holds", held(1), { id }),
    ];
    const many = (credits: number) => ({ spends: [{ ...cost(credits), account: id }], all: true });
    const too = { balance: 7 };
    await refuses(call("spends", cost(8), { id }), 409, "insufficient_credits", too);
    await refuses(call("holds", held(8), { id }), 409, "insufficient_credits", too);
    await refuses(call("settle", { credits: 9 }, { id: one.id }), 409, "insufficient_credits");
    await refuses(call("checks", { token, spend: cost(8) }), 409, "insufficient_credits", too);
    await refuses(call("batches", many(8)), 409, "insufficient_credits", { ...too, index: 0 });
    await refuses(call("reverse", { credits: 2, reason: "x" }, { id: spent.id }), 409, "not_reversible", {
      reversible: 1,
    });

    const done: [BackendName, object, object, string?][] = [
      ["settle", {}, { credits: 1 }, one.id],
      ["release", {}, {}, other.id],
      ["reverse", { reason: "It failed" }, { reason: "It failed twice" }, spent.id],
      ["reference", { reference: "one" }, { reference: "other" }, id],
      ["checks", { token, spend: cost(1) }, { token, spend: cost(2) }],
      ["batches", many(1), many(2)],
    ];
    for (const [name, body, , to] of done)
      expect(await call(name, body, { id: to ?? "none", key: name })).toMatchObject({ http: 200 });
    done.push(["spends", {}, cost(2), id], ["holds", {}, held(2), id]);
    for (const [name, , another, to] of done)
      if (name !== "release")
        await refuses(call(name, another, { id: to ?? "none", key: name }), 422, "key_reused");
    // It has one body, so the same key is for another hold.
    await refuses(call("release", {}, { id: one.id, key: "release" }), 422, "key_reused");
    await refuses(call("settle", {}, { id: one.id }), 409, "hold_closed", { state: "settled" });
    await refuses(call("release", {}, { id: other.id }), 409, "hold_closed", { state: "released" });
    const second = await addAccount("second@example.com");
    await refuses(call("reference", { reference: "one" }, { id: second.id }), 409, "reference_taken");
  });

  it("refuses to give back more than an account can have", async () => {
    const { id } = await addAccount("rich@example.com", "--credits", "1000000000000");
    const spent = await call("spends", { credits: 1, reason: "A page" }, { id });
    await service.adminJson("credits", "add", "rich@example.com", "1");
    await refuses(call("reverse", { reason: "It failed" }, { id: spent.id }), 409, "balance_too_large");
  });

  it("denies in a check as the public operation does, where there is no account or no sign-in", async () => {
    await addAccount("gone@example.com");
    const token = await service.token("gone@example.com");
    await service.adminJson("account", "delete", "gone@example.com");
    await refuses(call("checks", { token }), 403, "forbidden", { ok: false, status: "invalid" });
    const none = await startService(await withBackendApi());
    const caller = await BackendCaller.add(none, "worker");
    const { status, text } = await caller.post("/v1/checks", { token });
    expect([status, JSON.parse(text)]).toMatchObject([
      503,
      { status: "unconfigured", error: { code: "not_configured" } },
    ]);
  });
});
