import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readClient } from "@/lib/docs/client-files";
import { exampleRefusal } from "@/lib/docs/responses";
import { operations } from "@/lib/http/register/operations";
import { clientFiles, clientVersion } from "@/lib/http/register/publications";
import { badAnswers, badWaits, serveBadAnswers } from "@/tests/lib/docs/bad-answers";
import { androidStubs } from "@/tests/support/android-stubs";
import { appleStubs } from "@/tests/support/apple-stubs";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { isInstalled } from "@/tests/support/databases";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { createFolder } from "@/tests/support/leash";
import { serve } from "@/tests/support/loopback";
import { connectDevice } from "@/tests/support/owner";

/** A client's output after a call: whether the company may run, why, and when it asks again (null: never). */
type Said = { mayRun: boolean; why: string; seconds: number | null };

/** What it says of the plan: its name, whether it has `voice`, and some of its limits (null: none). */
type Contents = { plan: string; voice: boolean; limits: (number | null)[] };
const limitNames = ["assistants", "projects", "seats", "constructor"];

type Script = (response: ServerResponse) => void;

const yes = { ok: true, status: "licensed", recheckAfterSeconds: 600 };
const json =
  (status: number, body: object, headers = {}): Script =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const refused = (status: number, code: Parameters<typeof exampleRefusal>[0], headers = {}) =>
  json(status, exampleRefusal(code, operations.entitlement.denial), headers);

const folder = createFolder();
const bad = await serveBadAnswers();
let script: Script[] = [];
let tokens: string[] = [];

const { url, stop } = await serve((request, response) => {
  tokens.push(request.headers.authorization ?? "");
  (script.shift() ?? ((nothing: ServerResponse) => nothing.destroy()))(response);
});
afterAll(stop);

beforeAll(async () => {
  for (const [, { files, build: [program, ...args] = [] }] of installed) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    if (program) await execute(program, args, inFolder);
  }
}, 300_000);

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

const clients: Record<string, Client> = {
  TypeScript: {
    needs: ["node"],
    files: {
      "client.mjs": readClient("typescript").replace("10_000", "1000"),
      "drive.mjs": `import { CompanyGate, Connection, FileVault } from "./client.mjs";
const [url, ...moments] = process.argv.slice(2);
let token = "first";
let isAway = false;
let isRenewable = false;
const readToken = async (deadToken) => {
  if (isRenewable && token === deadToken) token = "renewed";
  if (isAway) throw new Error("away");
  return token;
};
let gate = new CompanyGate(url, readToken);
for (const moment of moments) {
  if (moment.startsWith("at ")) { gate = new CompanyGate(moment.slice(3), readToken); continue; }
  if (moment.startsWith("renew at ")) {
    let kept = "the refresh token";
    const vault = { read: async () => kept, write: async (token) => { kept = token; } };
    const renewed = await new Connection(moment.slice(9), "native", vault).readToken().catch(() => "not now");
    console.log("said " + JSON.stringify({ kept, renewed }));
    continue;
  }
  if (moment.startsWith("bound at ")) {
    const [url, refreshToken] = moment.slice(9).split(" ");
    const vault = new FileVault("bound");
    await vault.write(refreshToken);
    const connection = new Connection(url, "native", vault);
    const gate = new CompanyGate(url, connection.readToken);
    await gate.ask();
    console.log("said " + JSON.stringify({ mayRun: gate.mayRun(), token: connection.token, kept: await vault.read() }));
    continue;
  }
  if (moment === "renew") { token = "second"; continue; }
  if (moment === "renewable") { isRenewable = true; continue; }
  if (moment === "away") { isAway = !isAway; continue; }
  if (moment.startsWith("contents ")) {
    const nowMs = Number(moment.slice(9)) * 1000;
    const limits = ${JSON.stringify(limitNames)}.map((name) => gate.limit(name, nowMs)); // JSON has null for Infinity
    console.log("said " + JSON.stringify({ plan: gate.plan, voice: gate.has("voice", nowMs), limits }));
    continue;
  }
  const nowMs = Number(moment) * 1000;
  const seconds = await gate.ask(nowMs);
  console.log("said " + JSON.stringify({ mayRun: gate.mayRun(nowMs), why: gate.why, seconds: Number.isFinite(seconds) ? seconds : null }));
}`,
    },
    run: ["node", "drive.mjs"],
  },
  Python: {
    needs: ["python3"],
    files: {
      "client.py": readClient("python").replace("TIMEOUT_SECONDS = 10", "TIMEOUT_SECONDS = 1"),
      "drive.py": `import json, math, sys
from client import CompanyGate, Connection, FileVault
token, away, renewable = ["first"], [], []
def read_token(dead_token):
    if renewable and token[0] == dead_token:
        token[0] = "renewed"
    return 1 / 0 if away else token[0]
gate = CompanyGate(sys.argv[1], read_token)
for moment in sys.argv[2:]:
    if moment.startswith("at "):
        gate = CompanyGate(moment[3:], read_token)
        continue
    if moment.startswith("renew at "):
        vault = FileVault("kept")
        vault.write("the refresh token")
        try:
            renewed = Connection(moment[9:], "native", vault).read_token()
        except OSError:
            renewed = "not now"
        print("said " + json.dumps({"kept": vault.read(), "renewed": renewed}))
        continue
    if moment.startswith("bound at "):
        url, refresh_token = moment[9:].split(" ")
        vault = FileVault("bound")
        vault.write(refresh_token)
        connection = Connection(url, "native", vault)
        gate = CompanyGate(url, connection.read_token)
        gate.ask()
        print("said " + json.dumps({"mayRun": gate.may_run(), "token": connection.token, "kept": vault.read()}))
        continue
    if moment == "renew":
        token[0] = "second"
        continue
    if moment == "renewable":
        renewable = ["yes"]
        continue
    if moment == "away":
        away = [] if away else ["away"]
        continue
    if moment.startswith("contents "):
        now = float(moment[9:])
        limits = [gate.limit(name, now) for name in ${JSON.stringify(limitNames)}]
        limits = [None if limit == math.inf else limit for limit in limits]
        print("said " + json.dumps({"plan": gate.plan, "voice": gate.has("voice", now), "limits": limits}))
        continue
    now = float(moment)
    seconds = gate.ask(now)
    print("said " + json.dumps({"mayRun": gate.may_run(now), "why": gate.why, "seconds": None if math.isinf(seconds) else seconds}))`,
    },
    run: ["python3", "drive.py"],
  },
  Swift: {
    needs: ["swiftc"],
    files: {
      "client.swift": readClient("swift"),
      ...appleStubs,
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
final class Kept: Vault, @unchecked Sendable {
  var token = "the refresh token"
  func read() throws -> String { token }
  func write(_ refreshToken: String) throws { token = refreshToken }
}
final class Bound: Vault, @unchecked Sendable {
  var token: String
  let key = makeKey()
  init(_ token: String) { self.token = token }
  func read() throws -> String { token }
  func write(_ refreshToken: String) throws { token = refreshToken }
  func openKey() throws -> ProofKey? { key }
}
func makeGate(_ url: String) -> CompanyGate { CompanyGate(url: URL(string: url)!) { try await keychain.read($0) } }
var gate = makeGate(CommandLine.arguments[1])
for moment in CommandLine.arguments.dropFirst(2) {
  if moment.hasPrefix("at ") { gate = makeGate(String(moment.dropFirst(3))); continue }
  if moment.hasPrefix("renew at ") {
    let kept = Kept()
    let connection = Connection(url: URL(string: String(moment.dropFirst(9)))!, clientId: "native", vault: kept)
    let renewed = (try? await connection.readToken()) ?? "not now"
    print("said {\\"kept\\":\\"\\(kept.token)\\",\\"renewed\\":\\"\\(renewed)\\"}")
    continue
  }
  if moment.hasPrefix("bound at ") {
    let parts = moment.dropFirst(9).split(separator: " ").map(String.init)
    let vault = Bound(parts[1])
    let connection = Connection(url: URL(string: parts[0])!, clientId: "native", vault: vault)
    let gate = CompanyGate(url: URL(string: parts[0])!) { try await connection.readToken(deadToken: $0) }
    _ = await gate.ask()
    let token = try await connection.readToken()
    print("said {\\"mayRun\\":\\(await gate.mayRun()),\\"token\\":\\"\\(token)\\",\\"kept\\":\\"\\(vault.token)\\"}")
    continue
  }
  if moment == "renew" { await keychain.renew(); continue }
  if moment == "renewable" { await keychain.becomeRenewable(); continue }
  if moment == "away" { await keychain.goAway(); continue }
  if moment.hasPrefix("contents ") {
    let now = start.advanced(by: .seconds(Double(moment.dropFirst(9))!))
    var limits: [String] = []
    for name in ${JSON.stringify(limitNames)} {
      let limit = await gate.limit(name, now: now)
      limits.append(limit == .max ? "null" : String(limit))
    }
    let voice = await gate.has("voice", now: now)
    print("said {\\"plan\\":\\"\\(await gate.plan)\\",\\"voice\\":\\(voice),\\"limits\\":[\\(limits.joined(separator: ","))]}")
    continue
  }
  let now = start.advanced(by: .seconds(Double(moment)!))
  let seconds = await gate.ask(now: now).map { String($0) } ?? "null"
  print("said {\\"mayRun\\":\\(await gate.mayRun(now: now)),\\"why\\":\\"\\(await gate.why)\\",\\"seconds\\":\\(seconds)}")
}`,
    },
    build: [
      "sh",
      "-ec",
      `swiftc -emit-module -module-name CryptoKit crypto-kit.swift
      swiftc client.swift apple.swift main.swift -I . -o drive-swift`,
    ],
    run: ["./drive-swift"],
  },
  Kotlin: {
    needs: ["kotlinc", "java", orgJson],
    files: {
      ...androidStubs,
      "client.kt": readClient("kotlin").replace("10_000", "1000"),
      "drive.kt": `fun main(arguments: Array<String>) {
    var token = "first"
    var isAway = false
    var isRenewable = false
    val clockMs = { System.nanoTime() / 1_000_000 }
    val readToken = { deadToken: String ->
        if (isRenewable && token == deadToken) token = "renewed"
        if (isAway) throw java.io.IOException("away") else token
    }
    var gate = CompanyGate(arguments[0], clockMs, readToken)
    for (moment in arguments.drop(1)) {
        if (moment.startsWith("at ")) { gate = CompanyGate(moment.drop(3), clockMs, readToken); continue }
        if (moment.startsWith("renew at ")) {
            var kept = "the refresh token"
            val vault = object : Vault {
                override fun read() = kept
                override fun write(refreshToken: String) { kept = refreshToken }
            }
            val renewed = try {
                Connection(moment.drop(9), "native", vault).readToken()
            } catch (failure: java.io.IOException) {
                "not now"
            }
            println("""said {"kept":"$kept","renewed":"$renewed"}""")
            continue
        }
        if (moment.startsWith("bound at ")) {
            val (url, refreshToken) = moment.drop(9).split(" ")
            var kept = refreshToken
            val pair = java.security.KeyPairGenerator.getInstance("EC")
                .apply { initialize(java.security.spec.ECGenParameterSpec("secp256r1")) }.generateKeyPair()
            val vault = object : Vault {
                override fun read() = kept
                override fun write(refreshToken: String) { kept = refreshToken }
                override fun openKey() = pair
            }
            val connection = Connection(url, "native", vault)
            val gate = CompanyGate(url) { connection.readToken(it) }
            gate.ask()
            println("""said {"mayRun":\${gate.mayRun()},"token":"\${connection.readToken()}","kept":"$kept"}""")
            continue
        }
        if (moment == "sign in twice") {
            val connection = Connection("http://127.0.0.1:9", "studio", object : Vault {
                override fun read() = ""
                override fun write(refreshToken: String) {}
            })
            val ends = java.util.concurrent.LinkedBlockingQueue<String>()
            val addresses = java.util.concurrent.LinkedBlockingQueue<String>()
            fun signIn(name: String) = kotlin.concurrent.thread(isDaemon = true) {
                try {
                    connection.connect("com.example.studio:/signed-in") { address ->
                        addresses.put(address)
                        openCustomTab(android.content.Context(), address)
                    }
                } catch (failure: java.io.IOException) {
                    ends.put(name + ": " + failure.message)
                }
            }
            val first = signIn("first")
            addresses.take()
            while (first.state != Thread.State.TIMED_WAITING) Thread.sleep(1)
            signIn("second")
            val state = addresses.take().substringAfter("&state=").substringBefore("&")
            println("""said {"ended":"\${ends.take()}"}""")
            val activity = AnswerActivity()
            val back = "com.example.studio:/signed-in?code=c&state=$state&iss=http%3A%2F%2F127.0.0.1%3A9"
            activity.intent = android.content.Intent("", android.net.Uri(back))
            AnswerActivity::class.java.getDeclaredMethod("onCreate", android.os.Bundle::class.java)
                .apply { isAccessible = true }.invoke(activity, null)
            println("""said {"ended":"\${ends.take()}"}""")
            continue
        }
        if (moment == "renew") { token = "second"; continue }
        if (moment == "renewable") { isRenewable = true; continue }
        if (moment == "away") { isAway = !isAway; continue }
        if (moment.startsWith("contents ")) {
            val nowMs = moment.drop(9).toLong() * 1000
            val limits = listOf(${limitNames.map((name) => `"${name}"`)})
                .map { gate.limit(it, nowMs) }.map { if (it == Long.MAX_VALUE) null else it }
            println("""said {"plan":"\${gate.plan}","voice":\${gate.has("voice", nowMs)},"limits":$limits}""")
            continue
        }
        val nowMs = moment.toLong() * 1000
        val seconds = gate.ask(nowMs)
        println("""said {"mayRun":\${gate.mayRun(nowMs)},"why":"\${gate.why}","seconds":$seconds}""")
    }
}`,
    },
    build: [
      // Optimizing a compiler that runs once takes half of its time.
      ...["kotlinc", "-J-XX:TieredStopAtLevel=1"],
      ...["client.kt", "drive.kt", ...Object.keys(androidStubs)],
      ...["-classpath", orgJson, "-include-runtime", "-d", "drive.jar"],
    ],
    run: ["java", "-cp", `drive.jar:${orgJson}`, "DriveKt"],
  },
};

const execute = promisify(execFile);
const environment = { PATH: process.env.PATH ?? "" } as unknown as NodeJS.ProcessEnv;
const inFolder = { cwd: folder, env: environment, timeout: 240_000 };

/**
 * A time in seconds by the client's own clock; a new token; from now on a refused token is renewed; a switch between a
 * readable and an unreadable token; another URL; the URL at which a connection renews its token; one at which it has a key and
 * asks with what it renewed; or a time at which it says what the plan contains.
 */
type Moment =
  | number
  | "renew"
  | "renewable"
  | "away"
  | "sign in twice"
  | `${"" | "renew " | "bound "}at ${string}`
  | `contents ${number}`;

/** Calls a client at these moments. Each call gets the next of the responses. */
async function drive<Result = Said>(
  { run }: Client,
  answers: Script[],
  moments: Moment[],
): Promise<Result[]> {
  script = answers;
  tokens = [];
  const [program = "", ...args] = run;
  const { stdout } = await execute(program, [...args, url, ...moments.map(String)], inFolder);
  return stdout.split("\n").flatMap((line) => (line.startsWith("said ") ? [JSON.parse(line.slice(5))] : []));
}

const isAvailable = (need: string) =>
  existsSync(need) || isInstalled(need) || (process.env.CI && need !== "swiftc");
const installed = Object.entries(clients).filter(([, { needs }]) => needs.every(isAvailable));
const unavailable = Object.entries(clients).flatMap(([language, { needs }]) => {
  const missing = needs.find((need) => !isAvailable(need));
  return missing ? [{ language, missing }] : [];
});

// Swift's compiler is too large to install for a test run: `tests/support/swift.sh` does.
for (const { language, missing } of unavailable)
  process.stdout.write(`NOT TRIED: the complete client in ${language}, because ${missing} is missing\n`);

describe.each(installed)("the complete client in %s", (_, client) => {
  const ask = (answers: Script[], moments: Moment[]) => drive(client, answers, moments);
  const t = 100_000;

  it("runs after a yes, and asks again shortly before it expires", async () => {
    const [said] = await ask([json(200, { ...yes, addedLater: 1 })], [t]);
    expect(said).toMatchObject({ mayRun: true, why: "licensed" });
    expect(said?.seconds).toBeGreaterThanOrEqual(540);
    expect(said?.seconds).toBeLessThanOrEqual(600);
  });

  it.each<[string, object, Contents]>([
    [
      "of this service",
      { plan: "studio", features: ["video", "voice"], limits: { assistants: 7, projects: 0, seats: null } },
      { plan: "studio", voice: true, limits: [7, 0, null, null] },
    ],
    ["of one before plans", { assistantLimit: 3 }, { plan: "", voice: false, limits: [3, null, null, null] }],
    ["of one before plans without a limit", {}, { plan: "", voice: false, limits: [null, null, null, null] }],
    [
      "of a later one, with more in it",
      {
        plan: "studio",
        features: [{ name: "video" }, null, 7, "voice"],
        limits: { projects: { most: 20, each: "month" }, seats: "20", constructor: true, tokens: 2 ** 60 },
        status: "team",
        another: { features: [] },
      },
      { plan: "studio", voice: true, limits: [null, 0, 0, 0] },
    ],
    [
      "of which nothing is as it should be",
      { plan: ["studio"], features: "voice", limits: [7], assistantLimit: "many" },
      { plan: "", voice: false, limits: [0, null, null, null] },
    ],
  ])("runs by an answer %s, and says what the plan contains", async (_, more, contents) => {
    const said = await drive<object>(client, [json(200, { ...yes, ...more })], [t, `contents ${t}`]);
    expect(said).toEqual([expect.objectContaining({ mayRun: true }), contents]);
  });

  it("says what the plan contains only while the company may run, and what is new after the next yes", async () => {
    const studio = { ...yes, plan: "studio", features: ["voice"], limits: { projects: 20 } };
    const said = await drive<Contents>(
      client,
      [
        json(200, studio),
        refused(503, "unavailable"),
        json(200, { ...studio, features: [] }),
        refused(403, "trial_ended"),
      ],
      [
        `contents ${t}`,
        ...[t, `contents ${t}`, t + 1, `contents ${t + 1}`, `contents ${t + 601}`],
        ...[t + 602, `contents ${t + 602}`, t + 603, `contents ${t + 603}`],
      ] as Moment[],
    );
    const told = said.flatMap(({ voice, limits }) => (limits ? [[voice, limits[1]]] : []));
    const nothing = [false, 0];
    expect(told).toEqual([nothing, [true, 20], [true, 20], nothing, [false, 20], nothing]);
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

  it("does not run on yesterday's yes after its machine has slept, but asks", async () => {
    const said = await ask(
      [json(200, yes), refused(503, "unavailable"), json(200, yes)],
      [t, t + 8 * 3600, t + 8 * 3601],
    );
    expect(said.map(({ mayRun }) => mayRun)).toEqual([true, false, true]);
  });

  it("keeps the last yes through 503, 429, no JSON and no network, until it expires", async () => {
    const answers: Script[] = [
      json(200, { ...yes, status: "trial", trialEndsAt: "2099-01-01T00:00:00.000Z" }),
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

  it("does not run after a bad answer alone, keeps the last yes through it, and asks again soon", async () => {
    const names = [...badAnswers.keys()];
    const [alone = [], after = []] = await Promise.all(
      [
        names.flatMap((name): Moment[] => [`at ${bad.at(name)}`, t]),
        names.flatMap((name): Moment[] => [`at ${bad.afterYes(name)}`, t, t + 1]),
      ].map((moments) => ask([], moments)),
    );
    const results = names.map((name, at) => {
      const one = alone[at];
      const [first, second] = after.slice(at * 2);
      return [name, one?.mayRun, one?.why, first?.mayRun, second?.mayRun, second?.why];
    });
    expect(results).toEqual(names.map((name) => [name, false, "unreachable", true, true, "licensed"]));
    const seconds = [...alone, ...after.filter((_, at) => at % 2 === 1)].map(({ seconds }) => seconds);
    expect(seconds.filter((one) => one === null || one < 5 || one > 6)).toEqual([]);
    expect(bad.strayed).toEqual([]);
  }, 120_000);

  it("waits from 5 seconds to an hour if it is told to wait until a date, or any other time that is none", async () => {
    const said = await ask(
      [],
      [...badWaits.keys()].flatMap((name): Moment[] => [`at ${bad.at(name)}`, t]),
    );
    expect(said.map(({ why }) => why)).toEqual([...badWaits].map(() => "unavailable"));
    expect(said.filter(({ seconds }) => !seconds || seconds < 5 || seconds > 3600 * 1.2)).toEqual([]);
  });

  it("keeps its refresh token through every bad answer to a renewal, and sends it to no other host", async () => {
    const names = [...badAnswers.keys()];
    const moments = names.map((name): Moment => `renew at ${bad.at(name)}`);
    const said = await drive<{ kept: string; renewed: string }>(client, [], moments);
    expect(said.map(({ kept, renewed }, at) => [names[at], kept, renewed])).toEqual(
      names.map((name) => [name, "the refresh token", "not now"]),
    );
    expect(bad.strayed).toEqual([]);
  }, 120_000);

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

it.runIf(installed.some(([language]) => language === "Kotlin"))(
  "an Android app whose owner closed the tab and asked again takes the answer to the last one",
  async () => {
    const said = await drive<object>(clients.Kotlin as Client, [], ["sign in twice"]);
    expect(said).toEqual([
      { ended: "first: The browser was closed." },
      { ended: "second: No token now: 0" }, // there is no service
    ]);
  },
);

it.each([
  [
    "node",
    `import { FileVault } from "./client.mjs";
await Promise.all(Array.from({ length: 50 }, (_, at) => new FileVault("shared").write("token " + at)));`,
  ],
  [
    "python3",
    `import threading
from client import FileVault
threads = [threading.Thread(target=FileVault("shared").write, args=(f"token {at}",)) for at in range(50)]
for thread in threads: thread.start()
for thread in threads: thread.join()`,
  ],
])(
  "keeps a whole token in its file when several processes renew it at once, in %s",
  async (program, code) => {
    if (!isAvailable(program)) return;
    const { stderr } = await execute(program, [program === "node" ? "-e" : "-c", code], inFolder);
    expect(stderr).toBe("");
    expect(readFileSync(join(folder, "shared"), "utf8")).toMatch(/^token \d+$/);
    expect(readdirSync(folder).filter((name) => name.startsWith("shared"))).toEqual(["shared"]);
  },
);

it.each([
  [
    "node",
    `import { FileVault } from "./client.mjs";
process.getBuiltinModule("node:fs/promises").link = async () => {
  throw Object.assign(new Error("permission denied"), { code: "EACCES" });
};
const made = await new FileVault("linkless").openKey();
console.log(made.jwk.d === (await new FileVault("linkless").openKey()).jwk.d);`,
  ],
  [
    "python3",
    `import os
from client import FileVault
def link(*paths): raise PermissionError("permission denied")
os.link = link
made = FileVault("linkless").open_key()
print(str(made == FileVault("linkless").open_key()).lower())`,
  ],
])("makes its key where a file cannot have two names, as on Android, in %s", async (program, code) => {
  if (!isAvailable(program)) return;
  rmSync(join(folder, "linkless.key"), { force: true });
  const { stdout } = await execute(program, [program === "node" ? "-e" : "-c", code], inFolder);
  expect(stdout).toBe("true\n");
  expect(readdirSync(folder).filter((name) => name.startsWith("linkless"))).toEqual(["linkless.key"]);
});

describe("the loop of the complete client", () => {
  it("in TypeScript waits an hour, not a millisecond, if a person has to sign in, and asks at once if it is woken", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { CompanyGate } = await import(
        `data:text/javascript,${encodeURIComponent(readClient("typescript"))}`
      );
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

it.runIf(isAvailable("python3"))(
  "the program in a terminal goes on without a network, after a code that expired, and when its owner declined",
  async () => {
    const program = `import client, os, sys, threading, time
code = {"device_code": "d", "user_code": "ABCD", "verification_uri": "u", "verification_uri_complete": "v", "expires_in": 900}
answers = [(0, {}, 0), (200, code, 0), (400, {"error": "expired_token"}, 0), (200, code, 0),
    (400, {"error": "access_denied", "error_description": "The owner declined."}, 0)]
client.fetch_json = lambda url, token="", **fields: answers.pop(0)
time.sleep = lambda seconds: None
def wait(woken, seconds):
    if not woken.is_set():
        sys.exit(f"waits {seconds}")
threading.Event.wait = wait
os.environ.update(CORNER_OFFICE_URL="", HOME=os.getcwd())
client.main()`;
    const { stdout, stderr } = await execute("python3", ["-c", program], inFolder).catch((failed) => failed);
    const asked = ["wait signed_out", "Open u and enter ABCD, or open v"];
    const lines = [
      "wait signed_out",
      "no code now: 0",
      ...asked,
      "the owner did not answer in time",
      ...asked,
    ];
    expect(stdout.trim().split("\n")).toEqual([...lines, "The owner declined."]);
    expect(stderr).toBe("waits 3600\n");
  },
);

const files = (Object.keys(clientFiles) as (keyof typeof clientFiles)[]).map((language) => ({
  language,
  text: readClient(language),
}));

it.each(files)(
  "the $language client reads no clock that a person can set, and compares nothing with the end of a trial",
  ({ text }) => {
    // But for the time of a proof, which the service compares with its own.
    expect(text.replace(/^.*"?\biat\b.*$/m, "")).not.toMatch(
      /\bDate\b|datetime|time\.time\(|currentTimeMillis|Instant\.(now|parse)|trialEndsAt/,
    );
  },
);

it("a client file that changes gets another version", () => {
  const hash = createHash("sha256")
    .update(files.map(({ text }) => text).join(""))
    .digest("hex");
  expect({ [clientVersion]: hash.slice(0, 16) }).toEqual({ "1.4.0": "a403a6d7fd8c9c73" });
  for (const { text } of files) expect(text).toContain(`Corner Office client ${clientVersion}`);
});

it.runIf(isAvailable("pyflakes3"))("pyflakes finds nothing in the Python file", async () => {
  expect(await execute("pyflakes3", ["client.py"], inFolder)).toMatchObject({ stdout: "", stderr: "" });
});

describe("a client that has a key", async () => {
  const email = "ceo@example.com";
  // The clock of its device is an hour slow, so it needs a nonce.
  const clock = makeClock();
  clock.pass(60 * 60_000);
  const service = await startService({ SIGN_IN: "local", ...clock.environment });
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const owner = await Browser.signIn(service, email);

  it.each(installed)(
    "in %s binds its tokens to it, and copies of them are worth nothing elsewhere",
    async (_, client) => {
      const { refresh_token } = await connectDevice(owner, service);
      const [said] = await drive<{ mayRun: boolean; token: string; kept: string }>(
        client,
        [],
        [`bound at ${service.url} ${refresh_token}`],
      );
      const { mayRun, token = "", kept = "" } = said ?? {};
      expect(mayRun).toBe(true);
      const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      expect(claims.cnf.jkt).toMatch(/^[\w-]{43}$/);
      const thief = makeKeyHolder(service.url, clock.now);
      const read = (headers: Record<string, string>) =>
        service.ask("/api/entitlement", { from: "127.0.9.1", headers });
      expect((await read({ authorization: `Bearer ${token}` })).status).toBe(401);
      expect((await read({ authorization: `DPoP ${token}` })).status).toBe(401);
      expect((await read(thief.headers("GET", "/api/entitlement", token))).status).toBe(401);
      const grant = { client_id: "native", grant_type: "refresh_token", refresh_token: kept };
      for (const dpop of ["", thief.prove("POST", "/oauth/token")]) {
        const headers: Record<string, string> = dpop ? { dpop } : {};
        const { status, text } = await service.submit("/oauth/token", grant, { from: "127.0.9.1", headers });
        expect([status, JSON.parse(text).error]).toEqual([400, "invalid_grant"]);
      }
      const kinds = ["bound", "bound.key"].filter((name) => existsSync(join(folder, name)));
      for (const name of kinds) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      for (const name of kinds) rmSync(join(folder, name));
      // Another machine, with the vault's file alone: the client makes a key of its own there.
      const [copied] = await drive<{ mayRun: boolean; token: string; kept: string }>(
        client,
        [],
        [`bound at ${service.url} ${kept}`],
      );
      expect(copied).toEqual({ mayRun: false, token: "", kept: "" });
      for (const name of kinds) rmSync(join(folder, name), { force: true });
      const page = (await owner.open("/home/access")).text;
      expect(page, "the copy ends nothing").not.toContain("Ended on");
      expect(page).toContain("Bound to its device");
    },
    60_000,
  );
});
