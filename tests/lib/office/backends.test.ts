import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

describe.each(engines)("the office's page of backends, on $name", async (engine) => {
  const stage = await startStage(engine);
  const OFFICE_PORT = String(await reservePort());
  const service = await startService(await withBackendApi({ ...stage.environment, OFFICE_PORT }));
  const ann = await OfficeBrowser.enrol(service, "ann");
  const other = await BackendCaller.add(service, "other", "read");

  const asks = async (caller: BackendCaller, path = "/v1/accounts") => (await caller.get(path)).status;
  const becomes = (caller: BackendCaller, status: number) =>
    eventually(async () => expect(await asks(caller)).toBe(status));
  const keyIn = (text: string) => {
    const [pem = ""] = /-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----/s.exec(text) ?? [];
    return createPrivateKey(pem);
  };
  const audited = async () =>
    (await service.adminJson<{ who: string; what: string; whom: string }[]>("audit", "list")).filter(
      ({ what }) => what.startsWith("backend"),
    );

  it("adds a backend, shows the private key that was made once, rotates and removes it, with a proof", async () => {
    const added = await ann.submit("/backends/add", { backend: "meter", may: "read\nspend" });
    expect([added.status, added.headers["cache-control"]]).toEqual([200, "no-store, no-transform"]);
    expect(added.text).toContain("It is shown this once, and stored nowhere.");
    const first = new BackendCaller(service, "meter", keyIn(added.text));
    await becomes(first, 200);
    const listed = (await ann.open("/backends")).text;
    expect(listed).toContain(`<code>http://localhost:${first.port}</code>`);
    for (const words of ["meter", "Read accounts, Spend and hold credits", "other"])
      expect(listed).toContain(words);
    expect(listed).not.toContain("PRIVATE KEY");

    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const publicKey = String(pair.publicKey.export({ type: "spki", format: "pem" }));
    const rotated = await ann.submit("/backends/rotate", { backend: "meter", publicKey });
    expect([rotated.status, rotated.headers.location]).toEqual([303, "/backends?done=rotate"]);
    const headers = async () => {
      const second = new BackendCaller(service, "meter", pair.privateKey);
      return { authorization: `Bearer ${await second.sign({}, "ES256")}` };
    };
    await eventually(async () =>
      expect((await first.send("/v1/accounts", { headers: await headers() })).status).toBe(200),
    );
    expect(await asks(first), "the key before").toBe(200);

    const removed = await ann.submit("/backends/remove", { backend: "meter" });
    expect(removed.headers.location).toBe("/backends?done=remove");
    await becomes(first, 401);
    expect(await asks(other)).toBe(200);
    expect(await audited()).toMatchObject([
      { who: "operator ann", what: "backend remove", whom: "meter" },
      { who: "operator ann", what: "backend rotate", whom: "meter" },
      { who: "operator ann", what: "backend add", whom: "meter" },
      { what: "backend add", whom: "other" },
    ]);
  });

  it("changes nothing for a name, a key or a permission that cannot be, and says why", async () => {
    const before = await audited();
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const bad = String(rsa.publicKey.export({ type: "spki", format: "pem" }));
    const own = String(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
    for (const [path, fields, words] of [
      ["add", { backend: "other", may: "read" }, "There is already a backend with this name."],
      ["add", { backend: "Not A Name", may: "read" }, "This is no name of a backend."],
      ["add", { backend: "x", may: "" }, "Choose what it may."],
      ["add", { backend: "x", may: "read", publicKey: bad }, "no public key that can be used"],
      ["add", { backend: "x", may: "read", publicKey: own }, "no public key that can be used"],
      ["rotate", { backend: "none" }, "There is no such backend."],
      ["remove", { backend: "none" }, "There is no such backend."],
    ] as const) {
      const { status, text } = await ann.submit(`/backends/${path}`, { ...fields });
      expect([status, text.includes(words)], words).toEqual([status, true]);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect(await audited()).toEqual(before);
  });

  it("shows on the page of an account what is held and which backend spent for what", async () => {
    const worker = await BackendCaller.add(service, "worker");
    // A new one may be refused for a tenth of a second.
    await eventually(async () => expect((await worker.get("/v1/plans")).status).toBe(200));
    const email = "ceo@example.com";
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, "--credits", "10");
    const write = async (path: string, body: object) => JSON.parse((await worker.post(path, body)).text);
    const spent = await write(`/v1/accounts/${id}/spends`, {
      credits: "3",
      reason: "A page",
      reference: "job 7",
    });
    await write(`/v1/entries/${spent.id}/reverse`, { credits: "1", reason: "Too long" });
    await write(`/v1/accounts/${id}/holds`, { credits: "2.5", reason: "A film", expiresInSeconds: 600 });
    const { text } = await ann.open(`/account?email=${email}`);
    for (const words of [
      "2.5 more are held for work that goes on:",
      "<bdi>A film</bdi>",
      "<bdi>backend worker: job 7</bdi>",
      "<bdi>backend worker, gives a spend back: job 7</bdi>",
    ])
      expect(text).toContain(words);
    expect(text, "an operator's entry").not.toContain("<bdi>backend null");
  });

  it("lists accounts by plan and state, in the office by links and for backends", async () => {
    const add = (email: string, ...terms: string[]) => service.adminJson("account", "add", email, ...terms);
    await add("paid@example.com", "--plan", "licensed");
    await add("free@example.com", "--plan", "hobby");
    await add("trial@example.com", "--trial-days", "5");
    await add("ended@example.com", "--trial-ends", "2026-01-01");
    await service.adminJson("account", "delete", "ceo@example.com");
    const found = async (query: string) => {
      const { status, text } = await other.get(`/v1/accounts?${query}`);
      expect(status, text).toBe(200);
      const { accounts } = JSON.parse(text) as { accounts: { email: string }[] };
      return accounts.flatMap(({ email }) => /^(\w+)@example\.com$/.exec(email)?.[1] ?? []).sort();
    };
    const inOffice = async (query: string) =>
      [...(await ann.open(`/accounts?${query}`)).text.matchAll(/<bdi>(\w+)@example.com<\/bdi>/g)].map(
        ([, name]) => name,
      );
    for (const [state, names] of [
      ["licensed", ["paid"]],
      ["trial", ["trial"]],
      ["trial-ended", ["ended"]],
      ["hobby", ["free"]],
    ] as const) {
      expect(await found(`state=${state}`)).toEqual(names);
      expect(await inOffice(`state=${state}`)).toEqual(names);
      expect((await ann.open("/accounts")).text).toContain(`href="/accounts?state=${state}"`);
    }
    expect(await found("plan=trial")).toEqual(["ended", "trial"]);
    expect(await found("plan=trial&state=hobby")).toEqual([]);
    expect(await found("state=trial&email=trial@example.com")).toEqual(["trial"]);
    for (const query of ["plan=Gold", "state=", "state=invalid"])
      expect([query, (await other.get(`/v1/accounts?${query}`)).status]).toEqual([query, 400]);
  });
});
