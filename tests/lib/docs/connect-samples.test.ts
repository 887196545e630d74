import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { desktopApp } from "@/lib/docs/clients/desktop-app";
import { phoneApp } from "@/lib/docs/clients/phone-app";
import { terminalProgram } from "@/lib/docs/clients/terminal";
import { Browser } from "@/tests/support/browser";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { giveBack, lend } from "@/tests/support/lent-service";
import { answerApp } from "@/tests/support/owner";
import type { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const scheme = "com.example.studio:/signed-in";
const hourMs = 60 * 60 * 1000;

let service: Service;
let browser: Browser;
const folder = createFolder();

beforeAll(async () => {
  ({ service } = await lend());
  await service.adminJson("account", "add", email, "--plan", "licensed");
  await service.adminJson("connect", "add", "studio", "Studio", scheme);
  browser = await Browser.signIn(service, email);
});
afterAll(() => giveBack(service));

/** Runs a file as it is, and answers its approval request. Returns its output and exit code. */
function run(program: string, file: string, code: string, word: "approve" | "decline") {
  const path = join(folder, file);
  writeFileSync(path, code);
  const env = { PATH: process.env.PATH, CORNER_OFFICE_URL: service.url } as unknown as NodeJS.ProcessEnv;
  return new Promise<{ exit: number; output: string }>((resolve) => {
    let isSettled = false;
    let output = "";
    const child = execFile(program, [path], { env, timeout: 60_000 }, (error, _, stderr) =>
      resolve({ exit: error ? Number(error.code) : 0, output: output + stderr }),
    );
    child.stdout?.on("data", async (chunk) => {
      output += chunk;
      const [address] = /http\S+(?:\/oauth\/authorize|\?user_code=)\S+(?=\s)/.exec(output) ?? [];
      if (!address || isSettled) return;
      isSettled = true;
      const back = await answerApp(browser, service, address, word);
      if (back) await fetch(back);
    });
  });
}

const files = [
  ["the desktop app", "node", "desktop.mjs", desktopApp],
  ...(process.env.CI || isInstalled("python3")
    ? ([["the program in a terminal", "python3", "terminal.py", terminalProgram]] as const)
    : []),
] as const;

describe.each(files)("%s", (_, program, file, code) => {
  it("asks its owner, gets a token and reads the entitlement", async () => {
    const { exit, output } = await run(program, file, code, "approve");
    expect(output).toContain('"status":"licensed"');
    expect(exit).toBe(0);
  });

  it("prints that its owner declined", async () => {
    const { exit, output } = await run(program, file, code, "decline");
    expect(output).toContain("The owner of the account declined.");
    expect(exit).toBe(1);
  });
});

/** The common interface of the desktop and the phone file. */
type Connection = {
  token: string;
  readToken: (nowMs?: number) => Promise<string>;
  connect: (redirectUri: string, openBrowser: (address: string) => Promise<string>) => Promise<string>;
};

describe("the phone app", () => {
  let make: (url?: string) => Connection;
  let kept = "";
  const inBrowser = (address: string) => answerApp(browser, service, address);

  beforeAll(async () => {
    const { Connection } = await import(`data:text/javascript,${encodeURIComponent(phoneApp)}`);
    const vault = {
      read: async () => kept,
      write: async (token: string) => {
        kept = token;
      },
    };
    make = (url = service.url) => new Connection(url, "studio", vault);
  });

  const entitlement = async (token: string) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;

  it("gets its answer at its own URL scheme", async () => {
    const connection = make();
    expect(await connection.readToken()).toBe("");
    const token = await connection.connect(scheme, async (address) => {
      const back = await inBrowser(address);
      expect(back.startsWith(`${scheme}?`)).toBe(true);
      return back;
    });
    expect(await entitlement(token)).toBe(200);
    expect(await connection.readToken()).toBe(token);
  });

  it("rejects an answer to another request or from another service", async () => {
    for (const change of [
      (back: string) => back.replace(/state=[^&]+/, "state=another"),
      (back: string) => back.replace(/iss=[^&]+/, "iss=https%3A%2F%2Fevil.example"),
      () => "",
    ]) {
      const asked = make().connect(scheme, async (address) => change(await inBrowser(address)));
      await expect(asked).rejects.toThrow("The answer is not for this request.");
    }
  });

  it("renews its token once for concurrent reads, also after a restart", async () => {
    await make().connect(scheme, inBrowser);
    const started = make();
    const [one, other] = await Promise.all([started.readToken(), started.readToken()]);
    expect(one).toBe(other);
    expect(await entitlement(one)).toBe(200);
    expect(await started.readToken(Date.now() + hourMs)).not.toBe(one);
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
