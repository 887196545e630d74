import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { kotlinClient } from "@/lib/docs/clients/kotlin";
import { pythonClient } from "@/lib/docs/clients/python";
import { swiftClient } from "@/lib/docs/clients/swift";
import { typescriptClient } from "@/lib/docs/clients/typescript";
import { exampleRefusal } from "@/lib/docs/responses";
import { clientVersion } from "@/lib/http/pages";
import { entitlementDenied } from "@/lib/http/schemas";
import { androidStubs } from "@/tests/support/android-stubs";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

/** A client's output after a call: whether the company may run, why, and when it asks again (null: never). */
type Said = { mayRun: boolean; why: string; seconds: number | null };

type Script = (response: ServerResponse) => void;

const yes = { ok: true, status: "licensed", recheckAfterSeconds: 600 };
const json =
  (status: number, body: object, headers = {}): Script =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const refused = (status: number, code: Parameters<typeof exampleRefusal>[0], headers = {}) =>
  json(status, exampleRefusal(code, entitlementDenied), headers);

/** Answers that the service never gives. */
const faults: Record<string, Script> = {
  "a proxy's HTML 502": (response) =>
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway</html>"),
  "a captive portal's HTML 401": (response) => response.writeHead(401).end("<html>Sign in</html>"),
  "the JSON null": (response) => response.end("null"),
  "a JSON list": (response) => response.writeHead(403).end("[1]"),
  "an error that is a text": (response) => response.writeHead(401).end('{"error":"text"}'),
  "an error that is null": (response) => response.writeHead(500).end('{"error":null}'),
  "a yes without its end": json(200, { ok: true, status: "licensed" }),
  "a body cut short": (response) =>
    response.writeHead(200, { "content-length": 500 }).write('{"ok":true,', () => response.destroy()),
};

const folder = createFolder();
let server: Server;
let url = "";
let script: Script[] = [];
let tokens: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    tokens.push(request.headers.authorization ?? "");
    (script.shift() ?? ((nothing: ServerResponse) => nothing.destroy()))(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [, { files, build: [program, ...args] = [] }] of installed) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    if (program) await execute(program, args, inFolder);
  }
}, 300_000);
afterAll(() => server.close());

/** A client from the documents, with a program that calls it at given times and prints its state. */
type Client = {
  /** The programs and files that it needs. */
  needs: string[];
  files: Record<string, string>;
  /** The command that compiles the files, if needed. */
  build?: string[];
  run: string[];
};

const orgJson = "/usr/share/java/com.android.json.jar";
const kotlinLibrary = "/usr/share/java/kotlin-stdlib.jar";

const clients: Record<string, Client> = {
  TypeScript: {
    needs: ["node"],
    files: {
      "client.mjs": typescriptClient,
      "drive.mjs": `import { CompanyGate } from "./client.mjs";
const [url, ...moments] = process.argv.slice(2);
let token = "first";
let isAway = false;
let isRenewable = false;
const gate = new CompanyGate(url, async (deadToken) => {
  if (isRenewable && token === deadToken) token = "renewed";
  if (isAway) throw new Error("away");
  return token;
});
const wallClock = Date.now;
for (const moment of moments) {
  if (moment === "renew") { token = "second"; continue; }
  if (moment === "renewable") { isRenewable = true; continue; }
  if (moment === "away") { isAway = !isAway; continue; }
  if (moment.startsWith("wall ")) { Date.now = () => wallClock() + Number(moment.slice(5)) * 1000; continue; }
  const nowMs = moment === "now" ? undefined : Number(moment) * 1000;
  const seconds = await gate.ask(nowMs);
  console.log("said " + JSON.stringify({ mayRun: gate.mayRun(nowMs), why: gate.why, seconds: Number.isFinite(seconds) ? seconds : null }));
}`,
    },
    run: ["node", "drive.mjs"],
  },
  Python: {
    needs: ["python3"],
    files: {
      "client.py": pythonClient,
      "drive.py": `import json, math, sys, time
from client import CompanyGate
wall_clock = time.time
token, away, renewable = ["first"], [], []
def read_token(dead_token):
    if renewable and token[0] == dead_token:
        token[0] = "renewed"
    return 1 / 0 if away else token[0]
gate = CompanyGate(sys.argv[1], read_token)
for moment in sys.argv[2:]:
    if moment == "renew":
        token[0] = "second"
        continue
    if moment == "renewable":
        renewable = ["yes"]
        continue
    if moment == "away":
        away = [] if away else ["away"]
        continue
    if moment.startswith("wall "):
        time.time = lambda skew=float(moment[5:]): wall_clock() + skew
        continue
    now = None if moment == "now" else float(moment)
    seconds = gate.ask(now)
    print("said " + json.dumps({"mayRun": gate.may_run(now), "why": gate.why, "seconds": None if math.isinf(seconds) else seconds}))`,
    },
    run: ["python3", "drive.py"],
  },
  Swift: {
    needs: ["swiftc"],
    files: {
      "client.swift": swiftClient,
      "main.swift": `import Foundation
struct Away: Error {}
actor Keychain {
  var token = "first"
  var isAway = false
  var isRenewable = false
  func renew() { token = "second" }
  func becomeRenewable() { isRenewable = true }
  func goAway() { isAway.toggle() }
  func read(_ deadToken: String) throws -> String {
    if isRenewable && token == deadToken { token = "renewed" }
    if isAway { throw Away() }
    return token
  }
}
let keychain = Keychain()
let start = ContinuousClock.now
let gate = CompanyGate(url: URL(string: CommandLine.arguments[1])!) { try await keychain.read($0) }
for moment in CommandLine.arguments.dropFirst(2) {
  if moment == "renew" { await keychain.renew(); continue }
  if moment == "renewable" { await keychain.becomeRenewable(); continue }
  if moment == "away" { await keychain.goAway(); continue }
  if moment.hasPrefix("wall ") { continue }
  let now = moment == "now" ? ContinuousClock.now : start.advanced(by: .seconds(Double(moment)!))
  let seconds = await gate.ask(now: now).map { String($0) } ?? "null"
  print("said {\\"mayRun\\":\\(await gate.mayRun(now: now)),\\"why\\":\\"\\(await gate.why)\\",\\"seconds\\":\\(seconds)}")
}`,
    },
    build: ["swiftc", "client.swift", "main.swift", "-o", "drive-swift"],
    run: ["./drive-swift"],
  },
  Kotlin: {
    needs: ["kotlinc", "java", orgJson],
    files: {
      ...androidStubs,
      "client.kt": kotlinClient,
      "drive.kt": `fun main(arguments: Array<String>) {
    var token = "first"
    var isAway = false
    var isRenewable = false
    val clockMs = { System.nanoTime() / 1_000_000 }
    val gate = CompanyGate(arguments[0], clockMs) { deadToken ->
        if (isRenewable && token == deadToken) token = "renewed"
        if (isAway) throw java.io.IOException("away") else token
    }
    for (moment in arguments.drop(1)) {
        if (moment == "renew") { token = "second"; continue }
        if (moment == "renewable") { isRenewable = true; continue }
        if (moment == "away") { isAway = !isAway; continue }
        if (moment.startsWith("wall ")) continue
        val nowMs = if (moment == "now") clockMs() else moment.toLong() * 1000
        val seconds = gate.ask(nowMs)
        println("""said {"mayRun":\${gate.mayRun(nowMs)},"why":"\${gate.why}","seconds":$seconds}""")
    }
}`,
    },
    build: [
      "kotlinc",
      ...["client.kt", "drive.kt", ...Object.keys(androidStubs)],
      ...["-classpath", orgJson, "-d", "kotlin"],
    ],
    run: ["java", "-cp", `kotlin:${orgJson}:${kotlinLibrary}`, "DriveKt"],
  },
};

const execute = promisify(execFile);
const environment = { PATH: process.env.PATH ?? "" } as unknown as NodeJS.ProcessEnv;
const inFolder = { cwd: folder, env: environment, timeout: 240_000 };

/**
 * A time in seconds by the client's own clock, or the current one; a new token; from now on a refused token is renewed;
 * a switch between a readable and an unreadable token; or the seconds by which the device's clock is wrong.
 */
type Moment = number | "now" | "renew" | "renewable" | "away" | `wall ${number}`;

/** Calls a client at these moments. Each call gets the next of the responses. */
async function drive({ run }: Client, answers: Script[], moments: Moment[]): Promise<Said[]> {
  script = answers;
  tokens = [];
  const [program = "", ...args] = run;
  const { stdout } = await execute(program, [...args, url, ...moments.map(String)], inFolder);
  return stdout.split("\n").flatMap((line) => (line.startsWith("said ") ? [JSON.parse(line.slice(5))] : []));
}

const isAvailable = (need: string) =>
  existsSync(need) || isInstalled(need) || (process.env.CI && need === "python3");
const installed = Object.entries(clients).filter(([, { needs }]) => needs.every(isAvailable));
const unavailable = Object.entries(clients).flatMap(([language, { needs }]) => {
  const missing = needs.find((need) => !isAvailable(need));
  return missing ? [{ language, missing }] : [];
});

// Compilers of Swift and Kotlin are too large to install for a test run. `npm test` lists what was skipped for that.
it.skip.each(unavailable)(
  "the complete client in $language, where a compiler is at hand: no $missing",
  () => {},
);

describe.each(installed)("the complete client in %s", (_, client) => {
  const ask = (answers: Script[], moments: Moment[]) => drive(client, answers, moments);
  const t = 100_000;

  it("runs after a yes, and asks again shortly before it expires", async () => {
    const [said] = await ask([json(200, { ...yes, addedLater: 1 })], [t]);
    expect(said).toMatchObject({ mayRun: true, why: "licensed" });
    expect(said?.seconds).toBeGreaterThanOrEqual(540);
    expect(said?.seconds).toBeLessThanOrEqual(600);
  });

  it("keeps the last yes while the token cannot be read, without sending a request", async () => {
    const said = await ask([json(200, yes), json(200, yes)], [t, "away", t + 60, t + 601, "away", t + 602]);
    expect(said.map(({ mayRun, why }) => [mayRun, why])).toEqual([
      [true, "licensed"],
      [true, "licensed"],
      [false, "unreachable"],
      [true, "licensed"],
    ]);
    expect(said[1]?.seconds).toBeLessThanOrEqual(6);
    expect(tokens).toEqual(["Bearer first", "Bearer first"]);
  });

  it.each([-24 * 3600, -3600, -25 * 60, 25 * 60, 3600])(
    "runs to the end of a trial on a device whose clock is off by %i seconds, or is put right meanwhile",
    async (skew) => {
      const trialEndsAt = new Date(Date.now() + 20 * 60_000).toISOString();
      const trial = json(200, { ...yes, status: "trial", trialEndsAt });
      const gone = refused(503, "unavailable");
      const said = await ask(
        [trial, gone, gone],
        [`wall ${skew}`, "now", "wall 0", "now", `wall ${-skew}`, "now"],
      );
      expect(said.map(({ mayRun, why }) => [mayRun, why])).toEqual(Array(3).fill([true, "trial"]));
    },
  );

  it("holds a yes no longer than recheckAfterSeconds, however late the trial ends", async () => {
    const trial = json(200, { ...yes, status: "trial", trialEndsAt: "2099-01-01T00:00:00.000Z" });
    const said = await ask([trial, refused(503, "unavailable")], [t, t + 600]);
    expect(said.map(({ mayRun }) => mayRun)).toEqual([true, false]);
  });

  it("does not run on yesterday's yes after its machine has slept, but asks", async () => {
    const said = await ask(
      [json(200, yes), refused(503, "unavailable"), json(200, yes)],
      [t, t + 8 * 3600, t + 8 * 3601],
    );
    expect(said.map(({ mayRun }) => mayRun)).toEqual([true, false, true]);
  });

  it("keeps the last yes through 503, 429, no JSON and no network, until it expires", async () => {
    const answers: Script[] = [
      json(200, yes),
      refused(503, "unavailable", { "Retry-After": "17" }),
      refused(429, "unavailable", { "Retry-After": "30" }),
      (response) => response.end("<html>a hotel's Wi-Fi</html>"),
      (response) => response.destroy(),
      (response) => response.destroy(),
    ];
    const said = await ask(answers, [t, t + 1, t + 2, t + 3, t + 4, t + 601]);
    expect(said.map(({ mayRun }) => mayRun)).toEqual([true, true, true, true, true, false]);
    expect(said[1]?.seconds).toBeGreaterThanOrEqual(17);
    expect(said[1]?.seconds).toBeLessThanOrEqual(17 * 1.2);
    expect(said[2]?.seconds).toBeGreaterThanOrEqual(30);
    expect(said[3]?.seconds).toBeGreaterThanOrEqual(20); // the third fault in a row
    expect(said.at(-1)?.why).toBe("unreachable");
  });

  it.each(Object.entries(faults))("keeps the last yes through %s", async (_, fault) => {
    const said = await ask([json(200, yes), fault, json(200, yes)], [t, t + 1, t + 2]);
    expect(said.map(({ mayRun, why }) => [mayRun, why])).toEqual(Array(3).fill([true, "licensed"]));
    expect(said[1]?.seconds).toBeLessThanOrEqual(6);
  });

  it.each(Object.entries(faults))("does not run after %s alone", async (_, fault) => {
    const said = await ask([fault], [t]);
    expect(said).toMatchObject([{ mayRun: false, why: "unreachable" }]);
  });

  it("renews a token that is refused before it expires, and runs on", async () => {
    const answers = [json(200, yes), refused(401, "signed_out"), json(200, yes)];
    const said = await ask(answers, ["renewable", t, t + 1]);
    expect(said.map(({ mayRun }) => mayRun)).toEqual([true, true]);
    expect(tokens).toEqual(["Bearer first", "Bearer first", "Bearer renewed"]);
  });

  it("renews a refused token once, and then stops", async () => {
    const answers = [refused(401, "signed_out"), refused(401, "signed_out")];
    const said = await ask(answers, ["renewable", t, t + 1]);
    expect(said).toEqual(Array(2).fill({ mayRun: false, why: "signed_out", seconds: null }));
    expect(tokens).toEqual(["Bearer first", "Bearer renewed"]);
  });

  it("stops on a 401, and asks again only with a new token", async () => {
    const answers = [json(200, yes), refused(401, "signed_out"), json(200, yes)];
    const said = await ask(answers, [t, t + 1, t + 2, "renew", t + 3]);
    expect(said.map(({ mayRun, seconds }) => [mayRun, seconds === null])).toEqual([
      [true, false],
      [false, true],
      [false, true],
      [true, false],
    ]);
    expect(tokens).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  it("stops on a 403 and on not_configured, and asks again after ten minutes", async () => {
    const said = await ask(
      [json(200, yes), refused(403, "trial_ended"), refused(503, "not_configured")],
      [t, t + 1, t + 2],
    );
    expect(said.slice(1)).toMatchObject([
      { mayRun: false, why: "trial_ended" },
      { mayRun: false, why: "not_configured" },
    ]);
    for (const { seconds } of said.slice(1)) {
      expect(seconds).toBeGreaterThanOrEqual(600);
      expect(seconds).toBeLessThanOrEqual(660);
    }
  });
});

describe("the loop of the complete client", () => {
  it("in TypeScript waits an hour, not a millisecond, if a person has to sign in, and asks at once if it is woken", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { CompanyGate } = await import(`data:text/javascript,${encodeURIComponent(typescriptClient)}`);
      const gate = new CompanyGate(url);
      let turns = 0;
      const loop = gate.keepAsking(() => turns++);
      await vi.advanceTimersByTimeAsync(3_599_000);
      expect([turns, gate.why]).toEqual([1, "signed_out"]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(turns).toBe(2);
      gate.wake();
      await vi.advanceTimersByTimeAsync(1);
      expect(turns).toBe(3);
      gate.end();
      await loop;
    } finally {
      vi.useRealTimers();
    }
  });

  it.runIf(isAvailable("python3"))(
    "in Python waits an hour if a person has to sign in, and asks at once if it is woken",
    async () => {
      const program = `from client import CompanyGate
waits = []
gate = CompanyGate("", lambda dead_token: "")
def wait(seconds):
    waits.append(seconds)
    if len(waits) == 2:
        gate.end()
gate.woken.wait = wait
gate.keep_asking(lambda: None)
print(waits, gate.why)`;
      const { stdout } = await execute("python3", ["-c", program], inFolder);
      expect(stdout).toBe("[3600, 3600] signed_out\n");
    },
  );
});

const files = { typescriptClient, pythonClient, swiftClient, kotlinClient };

it.each(Object.entries(files))(
  "the %s reads no clock that a person can set, and compares nothing with the end of a trial",
  (_, text) => {
    expect(text).not.toMatch(
      /\bDate\b|datetime|time\.time\(|currentTimeMillis|Instant\.(now|parse)|trialEndsAt/,
    );
  },
);

it("a client file that changes gets another version", () => {
  const hash = createHash("sha256").update(Object.values(files).join("")).digest("hex");
  expect({ [clientVersion]: hash.slice(0, 16) }).toEqual({ "1.0.0": "936eeffa0442a730" });
});

it("the TypeScript file compiles in strict mode", async () => {
  writeFileSync(join(folder, "client.ts"), typescriptClient);
  const here = process.cwd();
  const options = [
    "--strict",
    "--noEmit",
    "--target",
    "es2022",
    "--module",
    "es2022",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022,dom",
    "--types",
    "node",
    "--typeRoots",
    join(here, "node_modules/@types"),
  ];
  const tsc = join(here, "node_modules/typescript/bin/tsc");
  const compile = execute("node", [tsc, ...options, "client.ts"], inFolder);
  const { stdout } = await compile.catch((failed) => failed);
  expect(stdout).toBe("");
}, 240_000);
