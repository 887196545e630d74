import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { documentPages } from "@/lib/http/register/pages";
import { clientFiles, clientVersion } from "@/lib/http/register/publications";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { answerApp } from "@/tests/support/owner";
import { reservePort } from "@/tests/support/port";

const email = "ceo@example.com";
const scheme = "com.example.studio:/signed-in";
const hourMs = 60 * 60 * 1000;
const folder = createFolder();

const { service } = await borrowService();
await service.adminJson("account", "add", email, "--plan", "licensed");
await service.adminJson("connect", "add", "studio", "Studio", scheme);
let browser: Browser = await Browser.signIn(service, email);

const readFile = async ({ path }: { path: string }) => (await service.ask(path)).text;

async function samplesOf(path: string): Promise<string[]> {
  const { text } = await service.ask(`${path}.md`);
  return marked.lexer(text).flatMap((token) => (token.type === "code" ? [token.text as string] : []));
}

/**
 * Runs a program in a home folder until it says that the company may run or its owner declined, and answers its request.
 * Returns its output, and its exit code if it ended by itself.
 */
function run(home: string, program: string, file: string, word: "approve" | "decline") {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CORNER_OFFICE_URL: service.url,
  } as unknown as NodeJS.ProcessEnv;
  return new Promise<{ exit: number | undefined; output: string }>((resolve) => {
    let isSettled = false;
    let output = "";
    const options = { env, cwd: home, timeout: 60_000 };
    const child = execFile(program, [file], options, (error, _, stderr) =>
      resolve({ exit: error?.killed ? undefined : Number(error?.code ?? 0), output: output + stderr }),
    );
    child.stdout?.on("data", async (chunk) => {
      output += chunk;
      if (/run licensed|owner of the account declined/.test(output)) child.kill();
      const [address] = /http\S+(?:\/oauth\/authorize|\?user_code=)\S+(?=\s)/.exec(output) ?? [];
      if (!address || isSettled) return;
      isSettled = true;
      const back = await answerApp(browser, service, address, word);
      if (back) await fetch(back);
    });
  });
}

const newHome = () => mkdtempSync(join(folder, "home-"));

/** Saves what the document says to save. Returns the program and the file to run. */
const programs: Record<string, (home: string) => Promise<[program: string, file: string]>> = {
  "the desktop app": async (home: string) => {
    const samples = await samplesOf(documentPages.connectDesktop.path);
    writeFileSync(join(home, "corner-office.mjs"), await readFile(clientFiles.typescript));
    const program = samples.find((code) => code.includes('from "./corner-office.mjs"'));
    writeFileSync(join(home, "app.mjs"), program ?? "");
    return ["node", "app.mjs"];
  },
  "the program in a terminal": async (home: string) => {
    writeFileSync(join(home, "corner_office.py"), await readFile(clientFiles.python));
    return ["python3", "corner_office.py"];
  },
};

const runnable = Object.entries(programs).filter(
  ([name]) => name === "the desktop app" || process.env.CI || isInstalled("python3"),
);

describe.each(runnable)("%s", (_, save) => {
  it("asks its owner, runs, and after a restart runs without asking, with a refresh token that only its user may read", async () => {
    const home = newHome();
    const program = await save(home);
    expect((await run(home, ...program, "approve")).output).toContain("run licensed");
    expect(statSync(join(home, ".corner-office")).mode & 0o777).toBe(0o600);
    const restarted = await run(home, ...program, "decline");
    expect(restarted.output).toContain("run licensed");
    expect(restarted.output).not.toContain("/connect");
    expect(restarted.output).not.toContain("/oauth/authorize");
  });

  it("leaves nothing in its vault that another computer can use", async () => {
    const [home, elsewhere] = [newHome(), newHome()];
    const program = await save(home);
    await save(elsewhere);
    expect((await run(home, ...program, "approve")).output).toContain("run licensed");
    copyFileSync(join(home, ".corner-office"), join(elsewhere, ".corner-office"));
    expect((await run(elsewhere, ...program, "decline")).output).not.toContain("run licensed");
    expect((await run(home, ...program, "decline")).output).toContain("run licensed");
    expect(statSync(join(home, ".corner-office.key")).mode & 0o777).toBe(0o600);
  });

  it("prints that its owner declined, and goes on", async () => {
    const home = newHome();
    const { exit, output } = await run(home, ...(await save(home)), "decline");
    expect(output).toContain("The owner of the account declined.");
    expect(exit).toBeUndefined();
  });
});

describe("the server of a browser app", () => {
  /** Its routes, which show that an answer counts for the person alone that asked. */
  const routes = `
import { createServer } from "node:http";
import { askForApproval, mayRun, takeAnswer } from "./studio.mjs";
const server = createServer(async ({ url }, response) => {
  const said = [];
  for (const person of ["another", "person"])
    await takeAnswer(person, url).catch(({ message }) => said.push(message));
  said.push((await mayRun("person")) ? "run licensed" : "wait");
  response.end(() => console.log(said.join("\\n")));
});
const { port } = new URL(process.env.REDIRECT_URI);
server.listen(port, "127.0.0.1", async () => console.log(await askForApproval("person")));`;

  it.each([
    ["approve", "The answer is to no request of this person.\nrun licensed\n"],
    ["decline", "The answer is to no request of this person.\nThe owner of the account declined.\nwait\n"],
  ] as const)("is told whether its owner approves: %s", async (word, said) => {
    const home = newHome();
    const redirect = `http://127.0.0.1:${await reservePort()}/callback`;
    const [program = ""] = (await samplesOf(documentPages.connectWeb.path)).filter((code) =>
      code.includes('from "./corner-office.mjs"'),
    );
    writeFileSync(join(home, "corner-office.mjs"), await readFile(clientFiles.typescript));
    const here = program
      .replace("https://studio.example.com/signed-in", redirect)
      .replace('"studio"', '"native"');
    writeFileSync(join(home, "studio.mjs"), here);
    writeFileSync(
      join(home, "routes.mjs"),
      routes.replace("process.env.REDIRECT_URI", JSON.stringify(redirect)),
    );
    const { output } = await run(home, "node", "routes.mjs", word);
    expect(output).toContain(said);
  });
});

describe("the client files", () => {
  it.each(Object.entries(clientFiles))(
    "of %s can be downloaded and cached for a year",
    async (_, { path }) => {
      const { status, headers, text } = await service.ask(path);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="${path.split("/").at(-1)}"`,
        "cache-control": "public, max-age=31536000",
      });
      expect(text.replace(/^(?:\/\/|#) /, "")).toMatch(
        new RegExp(`^Corner Office client ${clientVersion}[,.]`),
      );
      expect((await service.ask(path, { headers: { "if-none-match": String(headers.etag) } })).status).toBe(
        304,
      );
      expect((await service.ask("/docs/client")).text).toContain(`href="${path}"`);
    },
  );

  it("contain each excerpt of the documents", async () => {
    const texts = await Promise.all(Object.values(clientFiles).map(readFile));
    const { client, connectIphone, connectAndroid, connectExpo, connectTerminal } = documentPages;
    const shown = [client, connectIphone, connectAndroid, connectExpo, connectTerminal];
    const samples = await Promise.all(shown.map(({ path }) => samplesOf(path)));
    const excerpts = samples
      .flat()
      .filter((sample) => /class CompanyGate|actor CompanyGate|code_challenge|device_code/.test(sample));
    expect(excerpts.length).toBe(8);
    for (const excerpt of excerpts) {
      expect(texts.some((text) => text.includes(excerpt))).toBe(true);
    }
  });
});

it("gives an Android app the activity of its file, and the permission without which every request throws", async () => {
  const samples = await samplesOf(documentPages.connectAndroid.path);
  const manifest = samples.find((code) => code.startsWith("<uses-permission")) ?? "";
  expect(manifest).toContain('<uses-permission android:name="android.permission.INTERNET" />');
  const activity = /<activity[\s\S]*<\/activity>/.exec(manifest)?.[0].split(/\n\s*/);
  const file = await readFile(clientFiles.kotlin);
  expect(/<activity[\s\S]*<\/activity>/.exec(file)?.[0].split(/\n[ *]*/)).toEqual(activity);
});

/** Of the TypeScript file. */
type Connection = {
  token: string;
  readToken: (deadToken?: string, nowMs?: number) => Promise<string>;
  connect: (redirectUri: string, openBrowser: (address: string) => Promise<string>) => Promise<string>;
};

describe("the phone app", async () => {
  let kept = "";
  const inBrowser = (address: string) => answerApp(browser, service, address);

  const text = await readFile(clientFiles.typescript);
  const { Connection } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const vault = {
    read: async () => kept,
    write: async (token: string) => {
      kept = token;
    },
  };
  const make = (url = service.url): Connection => new Connection(url, "studio", vault);

  it("gets its answer at its own URL scheme", async () => {
    const connection = make();
    expect(await connection.readToken()).toBe("");
    const token = await connection.connect(scheme, async (address) => {
      const back = await inBrowser(address);
      expect(back.startsWith(`${scheme}?`)).toBe(true);
      return back;
    });
    expect(await service.statusFor(token)).toBe(200);
    expect(await connection.readToken()).toBe(token);
  });

  it("rejects an answer to another request or from another service", async () => {
    for (const [change, why] of [
      [(back: string) => back.replace(/state=[^&]+/, "state=another"), "The answer is not for this request."],
      [
        (back: string) => back.replace(/iss=[^&]+/, "iss=https%3A%2F%2Fevil.example"),
        "The answer is not for this request.",
      ],
      [() => "", "The browser was closed."],
    ] as const) {
      const asked = make().connect(scheme, async (address) => change(await inBrowser(address)));
      await expect(asked).rejects.toThrow(why);
    }
  });

  it("renews its token once for concurrent reads, also after a restart", async () => {
    await make().connect(scheme, inBrowser);
    const started = make();
    const [one, other] = await Promise.all([started.readToken(), started.readToken()]);
    expect(one).toBe(other);
    expect(await service.statusFor(one)).toBe(200);
    expect(await started.readToken("", performance.now() + hourMs)).not.toBe(one);
  });

  it("forgets a token that is refused after `keys revoke`, and renews it", async () => {
    await make().connect(scheme, inBrowser);
    const connection = make();
    const dead = await connection.readToken();
    const { kid } = JSON.parse(Buffer.from(dead.split(".")[0] ?? "", "base64url").toString());
    await service.adminJson("keys", "revoke", kid);
    expect(await service.statusFor(dead)).toBe(401);
    const renewed = await connection.readToken(dead);
    expect(renewed).not.toBe(dead);
    expect(await service.statusFor(renewed)).toBe(200);
    browser = await Browser.signIn(service, email);
  });

  it("keeps its key on the phone in Expo, and its vault is worth nothing on another one", async () => {
    const samples = await samplesOf(documentPages.connectExpo.path);
    const sample = samples.find((code) => code.includes('from "expo-secure-store"')) ?? "";
    const [made = ""] = sample.replace(/^import .*$/gm, "").split("const gate");
    const program = `export const start = (SecureStore, Connection, install) => {${made} return connection; };`;
    const { start } = await import(`data:text/javascript,${encodeURIComponent(program)}`);
    const phone = (items: Map<string, string>): Connection => {
      const secureStore = {
        getItemAsync: async (name: string) => items.get(name) ?? null,
        setItemAsync: async (name: string, value: string) => void items.set(name, value),
      };
      return start(secureStore, Connection, () => {});
    };
    const keyOf = (token: string) =>
      JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).cnf?.jkt;
    const items = new Map<string, string>();
    const token = await phone(items).connect(scheme, inBrowser);
    expect(keyOf(token)).toMatch(/^[\w-]{43}$/);
    expect(await service.statusFor(token)).toBe(401);
    const restarted = await phone(items).readToken();
    expect(keyOf(restarted)).toBe(keyOf(token));
    const stolen = new Map([["corner-office", items.get("corner-office") ?? ""]]);
    expect(await phone(stolen).readToken()).toBe("");
    expect(keyOf(await phone(items).readToken())).toBe(keyOf(token));
  });

  it("is accepted by the strictest compiler of a program that knows no browser, with what the program passes in", async () => {
    const app = newHome();
    const program = `
import { CompanyGate, Connection, connectOnDesktop, FileVault } from "./corner-office.js";
let kept = "";
const read = async () => kept;
const write = async (refreshToken: string) => { kept = refreshToken; };
const openKey = async () => ({ jwk: {}, privateKey: {} });
export const bare = new Connection("", "studio", { read, write });
export const bound = new Connection("", "studio", { read, write, openKey });
export const inFile = new Connection("", "native", new FileVault("token"));
export const gate = new CompanyGate("", async (deadToken: string) => bare.readToken(deadToken));
export const signIn = () => bare.connect("com.example.studio:/signed-in", async (address: string) => address);
export const onDesktop = () => connectOnDesktop(bare, async (address: string) => ({ opened: address }));
// @ts-expect-error: it cannot be read
export const unread = new Connection("", "studio", { write });
`;
    writeFileSync(join(app, "corner-office.ts"), text);
    writeFileSync(join(app, "program.ts"), program);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noImplicitReturns: true,
      noImplicitOverride: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      verbatimModuleSyntax: true,
      erasableSyntaxOnly: true,
      noEmit: true,
      target: "es2022",
      module: "nodenext",
      lib: ["es2022"],
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [resolve("node_modules/@types")],
    };
    writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const { output } = await run(app, "node", resolve("node_modules/typescript/bin/tsc"), "decline");
    expect(output).toBe("");
  });

  it("is accepted by the compiler of a new Expo app, which is strict", async () => {
    const app = newHome();
    const samples = await samplesOf(documentPages.connectExpo.path);
    const sample = samples.find((code) => code.includes('from "expo-secure-store"')) ?? "";
    /** The packages that it imports, as they are typed: all of a function's parameters are needed. */
    const packages = `
declare module "expo-secure-store" {
  export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: number;
  type Options = { keychainAccessible?: number };
  export function getItemAsync(key: string, options?: Options): Promise<string | null>;
  export function setItemAsync(key: string, value: string, options?: Options): Promise<void>;
}
declare module "expo-web-browser" {
  type Result = { type: "success"; url: string } | { type: "cancel" | "dismiss" };
  export function openAuthSessionAsync(url: string, redirectUrl?: string | null): Promise<Result>;
}
declare module "react-native-quick-crypto" {
  export const install: () => void;
}`;
    writeFileSync(join(app, "corner-office.ts"), text);
    writeFileSync(join(app, "company.ts"), sample);
    writeFileSync(join(app, "packages.d.ts"), packages);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "esnext",
      module: "preserve",
      lib: ["dom", "esnext"],
      skipLibCheck: true,
      types: [], // TypeScript's default since 6
    };
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const { output } = await run(app, "node", resolve("node_modules/typescript/bin/tsc"), "decline");
    expect(output).toBe("");
  });

  it("keeps its refresh token during an outage, and deletes it when its session has ended", async () => {
    await make().connect(scheme, inBrowser);
    const before = kept;
    await expect(make("http://127.0.0.1:9").readToken()).rejects.toThrow();
    expect(kept).toBe(before);
    await service.adminJson("session", "end", email, "--all");
    expect(await make().readToken()).toBe("");
    expect(kept).toBe("");
    browser = await Browser.signIn(service, email);
  });
});
