import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { jwtVerify } from "jose";
import { afterAll, describe, expect, expectTypeOf, it } from "vitest";
import type * as z from "zod";
import { clientVersion } from "@/lib/backend/addresses";
import type * as answers from "@/lib/backend/answers";
import { readClientFile } from "@/lib/docs/client-files";
import type {
  Account,
  Entry,
  Event,
  Hold,
  ListedEntry,
  Plan,
} from "@/lib/docs/clients/corner-office-backend";
import { badAnswers, serveBadAnswers } from "@/tests/lib/docs/bad-answers";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { serve } from "@/tests/support/loopback";
import { blocksOf, folderOfService, follow } from "@/tests/support/printed-lines";

const run = promisify(execFile);
const folder = createFolder();
const environment = { PATH: process.env.PATH ?? "" } as unknown as NodeJS.ProcessEnv;

/** What a client is asked to do: the name of a step, and what it needs. */
type Step = [name: string, ...values: unknown[]];
type Said = { got?: unknown; refused?: string; figure?: unknown; outage?: string; threw?: string };
type Result = { said: Said[]; waits: number[] };

/** The programs that take the steps. Waiting takes no time, but the clock goes on by as much. */
const programs: Record<string, { file: string; text: string; command: string[]; program: string }> = {
  TypeScript: {
    file: "corner-office-backend.ts",
    text: readClientFile("corner-office-backend.ts")
      .replace("timeoutMs = 10_000", "timeoutMs = 1000")
      .replace("setTimeout(", "pause("),
    command: ["node", "drive.ts"],
    program: `import { BackendApi, Outage, Refused } from "./corner-office-backend.ts";
const [url, pem, backend, patience, clockMs, steps] = process.argv.slice(2);
const waits = [], said = [], now = performance.now.bind(performance), today = Date.now;
let slept = 0;
performance.now = () => now() + slept;
Date.now = () => today() + Number(clockMs);
globalThis.pause = (done, ms) => {
  slept += ms;
  waits.push(ms / 1000);
  setTimeout(done, 0);
};
let api = new BackendApi(url, backend, pem, { patienceSeconds: Number(patience) });
const list = async (items) => { const all = []; for await (const item of items) all.push(item.id); return all; };
const doing = {
  at: (url) => { api = new BackendApi(url, backend, pem, { patienceSeconds: Number(patience) }); },
  spend: (account, credits, key) => api.spend(account, { credits, reason: "A päge" }, key),
  work: (account, used, fails) => api.whileHolding(account, { credits: "2", reason: "A film", expiresInSeconds: 60 }, async (hold) => {
    if (used !== null) hold.used = used;
    if (fails) throw new Error("the work failed");
  }),
  hold: (account) => api.hold(account, { credits: 1, reason: "A film", expiresInSeconds: 60, reference: "job" }),
  settle: (hold) => api.settle(hold, "0.5"),
  release: (hold) => api.release(hold),
  reverse: (entry) => api.reverse(entry, { reason: "It failed" }),
  name: (account, reference) => api.setReference(account, reference),
  each: async (account, many, key) => (await api.spendEach(Array(many).fill({ account, credits: 1, reason: "A minute" }), key)).map((one) => "error" in one ? one.error.code : "spent"),
  all: (account, many) => api.spendAll(Array(many).fill({ account, credits: 1, reason: "A minute" })),
  entries: (account, after) => list(api.entries({ ...(account && { account }), after })),
  events: (after) => list(api.events({ after })),
  accounts: (filter) => list(api.accounts(filter)),
  account: (id) => api.account(id),
  plans: async () => { const all = []; for await (const plan of api.plans()) all.push(plan); return all; },
  check: (token, credits) => api.check(token, credits ? { spend: { credits, reason: "A page" } } : {}),
};
for (const [name, ...values] of JSON.parse(steps)) {
  try { said.push({ got: await doing[name](...values) ?? null }); }
  catch (failure) {
    if (failure instanceof Refused) said.push({ refused: failure.code, figure: failure.answer.balance });
    else if (failure instanceof Outage) said.push({ outage: failure.key });
    else said.push({ threw: failure.message });
  }
}
console.log(JSON.stringify({ said, waits }));`,
  },
  Python: {
    file: "corner_office_backend.py",
    text: readClientFile("corner-office-backend.py").replace("TIMEOUT_SECONDS = 10", "TIMEOUT_SECONDS = 1"),
    command: ["python3", "drive.py"],
    program: `import json, sys, time
url, pem, backend, patience, clock_ms, steps = sys.argv[1:]
from corner_office_backend import BackendApi, Outage, Refused
waits, said, slept, now, today = [], [], [0.0], time.monotonic, time.time
def sleep(seconds):
    waits.append(seconds)
    slept[0] += seconds
time.sleep, time.monotonic, time.time = sleep, lambda: now() + slept[0], lambda: today() + float(clock_ms) / 1000
api = BackendApi(url, backend, pem, patience_seconds=float(patience))
def at(url):
    global api
    api = BackendApi(url, backend, pem, patience_seconds=float(patience))
def work(account, used, fails):
    with api.holding(account, "2", "A film", 60) as hold:
        if used is not None:
            hold["used"] = used
        if fails:
            raise ValueError("the work failed")
def minute(account, many):
    return [{"account": account, "credits": 1, "reason": "A minute"}] * many
doing = {
    "at": at,
    "spend": lambda account, credits, key: api.spend(account, credits, "A p\\u00e4ge", key=key),
    "work": work,
    "hold": lambda account: api.hold(account, 1, "A film", 60, reference="job"),
    "settle": lambda hold: api.settle(hold, "0.5"),
    "release": lambda hold: api.release(hold),
    "reverse": lambda entry: api.reverse(entry, "It failed"),
    "name": lambda account, reference: api.set_reference(account, reference),
    "each": lambda account, many, key=None: [one["error"]["code"] if "error" in one else "spent" for one in api.spend_each(minute(account, many), key)],
    "all": lambda account, many: api.spend_all(minute(account, many)),
    "entries": lambda account, after: [entry["id"] for entry in api.entries(account or None, after)],
    "events": lambda after: [event["id"] for event in api.events(after)],
    "accounts": lambda filters: [account["id"] for account in api.accounts(**filters)],
    "account": lambda id: api.account(id),
    "plans": lambda: list(api.plans()),
    "check": lambda token, credits: api.check(token, **({"spend": {"credits": credits, "reason": "A page"}} if credits else {})),
}
for name, *values in json.loads(steps):
    try:
        said.append({"got": doing[name](*values)})
    except Refused as refused:
        said.append({"refused": refused.code, "figure": refused.answer.get("balance")})
    except Outage as outage:
        said.append({"outage": outage.key})
    except ValueError as failure:
        said.append({"threw": str(failure)})
print(json.dumps({"said": said, "waits": waits}, default=float))`,
  },
};

const hasCryptography = await run("python3", ["-c", "import cryptography"], { env: environment }).then(
  () => true,
  () => false,
);
const clients = Object.entries(programs).filter(
  ([language]) => language !== "Python" || hasCryptography || process.env.CI,
);
for (const [, { file, text, command, program }] of clients) {
  writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, command[1] ?? ""), program);
}

/** A stand-in for the service: it plays one script after the other, and keeps what it was sent. */
type Sent = { url: string; headers: IncomingHttpHeaders; body: string };
let script: ((response: ServerResponse) => void)[] = [];
let sent: Sent[] = [];
const stand = await serve(async (request, response) => {
  sent.push({ url: request.url ?? "", headers: request.headers, body: await text(request) });
  (script.shift() ?? ((nothing: ServerResponse) => nothing.destroy()))(response);
});
const bad = await serveBadAnswers();
afterAll(stand.stop);

const json =
  (status: number, body: object, headers = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const refused = (status: number, code: string, headers = {}) =>
  json(
    status,
    { balance: 1, error: { code, message: "No.", hint: "Do.", docs: "http://localhost/docs" } },
    headers,
  );
const entry = json(200, {
  id: "e",
  account: "a",
  credits: -1,
  createdAt: "2026-11-25T09:30:00.000Z",
  balance: 2,
});
const spend: Step = ["spend", "a", "0.125", "the key"];

const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pemOf = (key: KeyObject) => String(key.export({ type: "pkcs8", format: "pem" }));

type Options = { url?: string; key?: KeyObject; backend?: string; patience?: number; clockMs?: number };

describe.each(clients)("the backend client in %s", (_, { command: [program = "", ...args] }) => {
  const drive = async (
    steps: Step[],
    {
      url = stand.url,
      key = ed25519.privateKey,
      backend = "worker",
      patience = 60,
      clockMs = 0,
    }: Options = {},
  ): Promise<Result> => {
    sent = [];
    const onOneLine = pemOf(key).replaceAll("\n", "\\n"); // as in many environments
    const values = [url, onOneLine, backend, String(patience), String(clockMs), JSON.stringify(steps)];
    const { stdout } = await run(program, [...args, ...values], { cwd: folder, env: environment });
    return JSON.parse(stdout);
  };
  const claimsOf = async ({ headers }: Sent, key = ed25519.publicKey) =>
    (await jwtVerify(String(headers.authorization).replace("Bearer ", ""), key, { audience: stand.url }))
      .payload;

  it.each([ed25519, p256])("signs for a minute", async ({ privateKey, publicKey }) => {
    script = [entry];
    const { said } = await drive([spend], { key: privateKey });
    expect(said).toMatchObject([{ got: { balance: 2 } }]);
    const [{ url, headers, body } = { url: "", headers: {}, body: "" }] = sent;
    expect([url, headers["content-type"], headers["idempotency-key"]]).toEqual([
      "/v1/accounts/a/spends",
      "application/json",
      "the key",
    ]);
    expect(body).toBe('{"credits":"0.125","reason":"A päge"}');
    const { iss, exp = 0 } = await claimsOf({ url, headers, body }, publicKey);
    expect(iss).toBe("worker");
    expect(Math.abs(exp - Date.now() / 1000 - 60)).toBeLessThan(10);
  });

  it("repeats what got no answer, with the same key and bytes, and waits for Retry-After", async () => {
    script = [
      (response) => response.destroy(),
      (response) => response.writeHead(502).end("<html>a proxy"),
      refused(503, "unavailable", { "retry-after": "7" }),
      refused(429, "unavailable", { "retry-after": "2" }),
      refused(500, "internal_error"),
      entry,
    ];
    const { said, waits } = await drive([spend]);
    expect(said).toMatchObject([{ got: { id: "e" } }]);
    expect(
      new Set(sent.map(({ url, headers, body }) => [url, headers["idempotency-key"], body].join())).size,
    ).toBe(1);
    expect(sent).toHaveLength(6);
    const least = [0.25, 0.5, 7, 2, 4];
    expect(waits.map((wait, at) => wait >= (least[at] ?? 0) && wait <= (least[at] ?? 0) * 1.2)).toEqual(
      Array(5).fill(true),
    );
  });

  it("gives up in time and says with which key to go on, also if it is told to wait longer", async () => {
    const { said, waits } = await drive([spend], { patience: 20 });
    expect(said).toEqual([{ outage: "the key" }]);
    expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThan(20);
    script = [refused(503, "unavailable", { "retry-after": "86400" })];
    expect(await drive([spend])).toEqual({ said: [{ outage: "the key" }], waits: [] });
  });

  it("does not repeat what was refused", async () => {
    for (const [status, code] of [
      [409, "insufficient_credits"],
      [422, "key_reused"],
      [503, "not_configured"],
      [401, "signed_out"],
    ] as const) {
      script = [refused(status, code)];
      expect(await drive([spend])).toEqual({ said: [{ refused: code, figure: 1 }], waits: [] });
      expect(sent).toHaveLength(1);
    }
  });

  it.each([-3_600_000, 86_400_000])(
    "signs anew once with the service's time if its clock is off by %d ms",
    async (clockMs) => {
      script = [refused(401, "invalid_assertion"), entry, entry];
      const { said } = await drive([spend, spend], { clockMs });
      expect(said).toMatchObject([{ got: { id: "e" } }, { got: { id: "e" } }]);
      expect(sent).toHaveLength(3);
      for (const one of sent.slice(1)) {
        const { exp = 0 } = await claimsOf(one);
        expect(Math.abs(exp - Date.now() / 1000 - 60)).toBeLessThan(10);
      }
      script = [refused(401, "invalid_assertion"), refused(401, "invalid_assertion"), entry];
      expect((await drive([spend], { clockMs })).said).toEqual([{ refused: "invalid_assertion", figure: 1 }]);
    },
  );

  it("does not sign anew if the clocks agree", async () => {
    script = [refused(401, "invalid_assertion"), entry];
    expect((await drive([spend])).said).toEqual([{ refused: "invalid_assertion", figure: 1 }]);
    expect(sent).toHaveLength(1);
  });

  it("takes no bad answer for one, and follows none to another host", async () => {
    const names = [...badAnswers.keys()];
    const { said } = await drive(
      names.flatMap((name): Step[] => [["at", bad.at(name)], spend]),
      { patience: 0 },
    );
    expect(names.map((name, at) => [name, said[at * 2 + 1]?.outage])).toEqual(
      names.map((name) => [name, "the key"]),
    );
    expect(bad.strayed).toEqual([]);
  }, 120_000);
});

describe.each(clients)(
  "the backend client in %s, with the service",
  async (language, { command: [program = "", ...args] }) => {
    const service = await startService(await withBackendApi({ SIGN_IN: "local" }));
    const worker = await BackendCaller.add(service, "worker");
    const drive = async (...steps: Step[]): Promise<Said[]> => {
      const values = [worker.url, pemOf(worker.privateKey), "worker", "20", "0", JSON.stringify(steps)];
      const { stdout } = await run(program, [...args, ...values], { cwd: folder, env: environment });
      return JSON.parse(stdout).said;
    };
    const addAccount = (email: string, credits: number) =>
      service.adminJson<{ id: string }>(
        "account",
        "add",
        email,
        "--plan",
        "licensed",
        "--credits",
        String(credits),
      );

    it("spends what the work has used, also if it fails, all if it says nothing, and nothing if it fails", async () => {
      const { id } = await addAccount("work@example.com", 10);
      const balance = async () => JSON.parse((await worker.get(`/v1/accounts/${id}`)).text);
      for (const [used, fails, left] of [
        ["0.4", false, 9.6],
        ["0.6", true, 9],
        [null, false, 7],
        [null, true, 7],
      ] as const) {
        const [said] = await drive(["work", id, used, fails]);
        expect(said).toEqual(fails ? { threw: "the work failed" } : { got: null });
        expect(await balance()).toMatchObject({ balance: left, held: 0 });
      }
    });

    it("does everything that the API does", async () => {
      const { id } = await addAccount("all@example.com", 2000);
      const [held, spent] = await drive(["hold", id], ["spend", id, "1.5", null]);
      const idOf = (said: Said | undefined) => String(Object(said?.got).id);
      const said = await drive(
        ["settle", idOf(held)],
        ["release", idOf(held)],
        ["reverse", idOf(spent)],
        ["name", id, "customer 7"],
        ["accounts", { email: "all@example.com" }],
        ["accounts", { email: "all@example.com", plan: "licensed", state: "licensed" }],
        ["accounts", { email: "all@example.com", plan: "hobby", state: "hobby" }],
        ["account", "none"],
        ["each", id, 1001, "a minute"],
        ["each", id, 1001, "a minute"],
        ["all", id, 1000],
        ["entries", id, ""],
        ["entries", id, idOf(spent)],
        ["events", ""],
        ["plans"],
      );
      expect(said).toMatchObject([
        { got: { state: "settled", balance: 1998 } },
        { refused: "hold_closed" },
        { got: { credits: 1.5, balance: 1999.5 } },
        { got: { reference: "customer 7" } },
        { got: [id] },
        { got: [id] },
        { got: [] },
        { refused: "account_not_found" },
        { got: Array(1001).fill("spent") },
        { got: Array(1001).fill("spent") },
        { refused: "insufficient_credits", figure: 0.5 },
        { got: { length: 1005 } },
        { got: { length: 1003 } },
        { got: expect.arrayContaining([expect.stringMatching(/^evt_/)]) },
        { got: [{ name: "trial" }, { name: "hobby" }, { name: "licensed", features: [], isOffered: true }] },
      ]);
      const token = await service.token("all@example.com");
      await service.adminJson(
        "account",
        "add",
        "ended@example.com",
        "--plan",
        "trial",
        "--trial-ends",
        "2020-01-01",
      );
      const ended = await service.token("ended@example.com");
      expect(
        await drive(["check", token, ""], ["check", token, "0.5"], ["check", ended, "0.5"]),
      ).toMatchObject([
        { got: { ok: true, status: "licensed" } },
        { got: { ok: true, entry: { balance: 998 } } },
        { got: { ok: false, status: "trial-ended" } },
      ]);
    });

    it("is in the documents with lines that run as they are printed", async () => {
      await addAccount("licensed@example.com", 5);
      const markdown = (await worker.send("/docs", { headers: {} })).text;
      const start = blocksOf(markdown, "Start").slice(...(language === "Python" ? [4] : [1, 4]));
      const home = folderOfService();
      writeFileSync(join(home, "worker.pem"), pemOf(worker.privateKey));
      const settings = {
        ...service.environment,
        CORNER_OFFICE_TOKEN: await service.token("licensed@example.com"),
      };
      const printed = await follow(start, { ts: "spend.ts", python: "spend.py" }, home, settings);
      expect(printed).toMatch(
        /^spent 0\.125 of 5, 4\.875 are left\n1 is held, 3\.875 can be spent\nsettled, 4\.475 are left\n$/,
      );
      const [more] = blocksOf(markdown, "The client files").filter(
        ({ language: of }) => of === (language === "Python" ? "python" : "ts"),
      );
      const file = language === "Python" ? "spend.py" : "spend.ts";
      const setUp = readFileSync(join(home, file), "utf8").split(/^for /m)[0] ?? "";
      writeFileSync(join(home, `more-${file}`), setUp + more?.text);
      const { stdout } = await run(program, [`more-${file}`], {
        cwd: home,
        env: { ...environment, ...settings },
      });
      expect(stdout.trimEnd().split("\n").at(-1)).toBe("2.85");
    });
  },
);

it.runIf(isInstalled("openssl") && isInstalled("curl"))("a shell signs as the documents say", async () => {
  const service = await startService(await withBackendApi());
  const worker = await BackendCaller.add(service, "worker");
  const home = createFolder();
  writeFileSync(join(home, "worker.pem"), pemOf(worker.privateKey));
  const lines = blocksOf((await worker.send("/docs", { headers: {} })).text, "Sign each request");
  expect(await follow(lines, {}, home, {})).toMatch(
    /^HTTP\/1\.1 200 OK\r\n.*\{"accounts":\[\],"next":null\}$/s,
  );
});

it("has the types of what the API answers", () => {
  expectTypeOf<z.infer<typeof answers.entry>>().toEqualTypeOf<Entry>();
  expectTypeOf<z.infer<typeof answers.listedEntry>>().toEqualTypeOf<ListedEntry>();
  expectTypeOf<z.infer<typeof answers.hold>>().toExtend<Hold>();
  expectTypeOf<z.infer<typeof answers.event>>().toExtend<Event>();
  expectTypeOf<z.infer<typeof answers.account>>().toExtend<Account>();
  expectTypeOf<z.infer<typeof answers.plan>>().toEqualTypeOf<Plan>();
});

it("a client file that changes gets another version", () => {
  const files = ["corner-office-backend.ts", "corner-office-backend.py"].map(readClientFile);
  const hash = createHash("sha256").update(files.join("")).digest("hex");
  expect({ [clientVersion]: hash.slice(0, 16) }).toEqual({ "1.4.0": "a3fc1a1562f40a42" });
  for (const text of files) expect(text).toContain(`Corner Office backend client ${clientVersion},`);
});

it.runIf(isInstalled("pyflakes3"))("pyflakes finds nothing in the Python file", async () => {
  const file = join(folder, "corner_office_backend.py");
  expect(await run("pyflakes3", [file])).toMatchObject({ stdout: "", stderr: "" });
});
