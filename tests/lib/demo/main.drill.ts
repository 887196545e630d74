import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { eventually, isInstalled } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { blocksOf, folderOfService, follow } from "@/tests/support/printed-lines";

const run = promisify(execFile);
const dataDir = createFolder();

/** Starts what `npm run demo` starts once it has built, and answers what it printed. */
async function startDemo() {
  const script: string = JSON.parse(readFileSync("package.json", "utf8")).scripts.demo;
  const command = script.split(" && ").at(-1) ?? "";
  const env = {
    PATH: process.env.PATH,
    PORT: String(await reservePort()),
    OFFICE_PORT: String(await reservePort()),
    BACKEND_PORT: String(await reservePort()),
    DATA_DIR: dataDir,
  } as unknown as NodeJS.ProcessEnv;
  const child = spawnLeashed("sh", ["-c", `exec env ${command}`], { env });
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("LOG_LEVEL=info shows") && printed.endsWith("\n")) resolve();
    });
    child.once("exit", () => reject(new Error(printed)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => child.removeAllListeners("exit").once("exit", resolve).kill());
  };
  const lines = printed.split("\n").filter((line) => line.startsWith("curl "));
  return { lines, printed: () => printed, stop };
}

/** Pastes a line into a shell, and answers the status and the body. */
async function paste(line: string) {
  const { stdout } = await run("sh", ["-c", line.replace("curl -i", "curl -s -i")]);
  const [head = "", body = ""] = stdout.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}

const answers = [
  ...Object.values(operations).map(({ path }) => [path, 200, ""] as const),
  ["/mcp", 200, "/docs/api/entitlement"],
  ["/api/entitlement", 200, '"status":"trial"'],
  ["/api/entitlement", 403, '"status":"trial-ended"'],
  ["/api/entitlement", 200, '"status":"hobby"'],
] as const;

async function expectAnswers(lines: string[]): Promise<void> {
  expect(lines).toHaveLength(answers.length);
  for (const [n, [path, status, part]] of answers.entries()) {
    expect(lines[n]).toContain(path);
    const answer = await paste(lines[n] ?? "");
    expect(answer.status, `${lines[n]}\n${answer.body}`).toBe(status);
    expect(answer.body).toContain(part);
  }
}

/** Runs the line that spends, which needs no name of this machine. */
async function expectSpends(demo: Awaited<ReturnType<typeof startDemo>>, balance: number): Promise<void> {
  const [, line = ""] = /^Spend credits {2}(npx node \S+)/m.exec(demo.printed()) ?? [];
  const { stdout } = await run("sh", ["-c", line]);
  expect(stdout.split("\n")).toEqual([
    `spent 0.125 of ${balance}, ${balance - 0.125} are left`,
    `1 is held, ${balance - 1.125} can be spent`,
    `settled, ${balance - 0.525} are left`,
    "",
  ]);
}

describe.runIf(process.env.CI || isInstalled("curl"))("npm run demo", () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  beforeAll(async () => {
    demo = await startDemo();
  });

  it("ends with a screen of 24 lines of 100 columns, and shows no token", async () => {
    const printed = demo.printed();
    const screen = printed.slice(printed.indexOf("\nCorner Office runs at")).trimEnd().split("\n");
    expect(screen.length).toBeLessThanOrEqual(24);
    // In the project's folder the files are in .data; the folder of this test has a longer name.
    const wide = screen.map((line) => line.replaceAll(relative(process.cwd(), dataDir), ".data"));
    for (const line of wide) expect(line.length, line).toBeLessThanOrEqual(100);
    expect(printed).not.toContain("Bearer");
    expect(statSync(join(dataDir, "demo", "licensed")).mode & 0o777).toBe(0o600);
  });

  it("prints a curl line for every operation", () => expectAnswers(demo.lines));

  it("keeps a token where the quick start takes it from", async () => {
    const [, base = ""] = /^Corner Office runs at (\S+)/m.exec(demo.printed()) ?? [];
    const { body } = await paste(`curl -i ${base}/docs.md`);
    const [, line = ""] = /`(export CORNER_OFFICE_TOKEN=\$\([^`]+)`/.exec(body) ?? [];
    const taken = line.replace(".data/", `${dataDir}/`);
    const asked = `curl -s ${base}/api/entitlement -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`;
    const { stdout } = await run("sh", ["-ec", `${taken}\n${asked}`]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, status: "licensed" });
  });

  it("prints a link to the operators' office, which listens next to it", async () => {
    const [, office = ""] = /(http:\/\/localhost:\d+)\/enrol#[\w-]{43}$/m.exec(demo.printed()) ?? [];
    const { status, body } = await paste(`curl -i ${office}/enter`);
    expect(status).toBe(200);
    expect(body).toContain("Sign in to the office");
  });

  it("prints a line that spends credits as a backend that it has added", async () => {
    await expectSpends(demo, 1250.5);
    expect(statSync(join(dataDir, "demo", "demo.pem")).mode & 0o777).toBe(0o600);
  });

  it("prints a line that changes a plan, which the next check has", async () => {
    const [, line = ""] = /^Change a plan {2}(.+)/m.exec(demo.printed()) ?? [];
    const check = demo.lines.find((line) => line.includes("/api/entitlement")) ?? "";
    expect((await paste(check)).body).toContain('"plan":"studio","assistantLimit":12,"features":["voice"]');
    await run("sh", ["-c", line], { env: { ...process.env, DATA_DIR: dataDir } });
    expect((await paste(check)).body).toContain('"features":["voice","video"]');
  });

  it("prints a line that shows events as a receiver of webhooks has verified them", async () => {
    const [, line = "", url = ""] = /^See events {5}(curl (\S+))/m.exec(demo.printed()) ?? [];
    await eventually(async () => {
      const { stdout } = await run("sh", ["-c", line]);
      expect(stdout.match(/^account\.created \{"account":"acc_[\w-]+","number":1\}$/gm)).toHaveLength(4);
      expect(stdout).toMatch(
        /^credits\.changed .*"before":\{"balance":1250\.5,"held":0\},"after":\{"balance":1250\.375,"held":0\}\}$/m,
      );
    });
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
  });

  it("runs the lines of the backend API's document as they are printed there", async () => {
    const [, url = ""] = /(http:\/\/localhost:\d+)\/docs$/m.exec(demo.printed()) ?? [];
    const { body } = await paste(`curl -i ${url}/docs`);
    const start = blocksOf(body, "Start").slice(0, 4);
    const printed = await follow(start, { ts: "spend.ts" }, folderOfService(), { DATA_DIR: dataDir });
    expect(printed).toMatch(/^spent 0\.125 of .*\n.*\nsettled, .* are left\n$/);
  });

  it("prints the code of the account that signs in, and no other", async () => {
    const address = /http:\/\/localhost:\d+/.exec(demo.lines[0] ?? "")?.[0];
    for (const email of ["nobody@example.com", "trial@example.com"]) {
      const form = `curl -i -H 'Origin: ${address}' -b office-probe=1 -d 'email=${email}' ${address}/sign-in/send`;
      expect((await paste(form)).status).toBe(303);
    }
    await eventually(() => expect(demo.printed()).toMatch(/^Sign-in code of trial@example\.com: \d{6}$/m));
    expect(demo.printed()).not.toContain("nobody@example.com");
  });

  it("has shown no request; starts again with its accounts, and the lines of both starts work", async () => {
    await demo.stop();
    expect(demo.printed()).not.toMatch(/^\{/m);
    const second = await startDemo();
    const port = /localhost:(\d+)/.exec(second.lines[0] ?? "")?.[1];
    await expectAnswers(second.lines);
    await expectAnswers(demo.lines.map((line) => line.replace(/localhost:\d+/, `localhost:${port}`)));
    await expectSpends(second, 1250.5);
    const [, line = ""] = /^See events {5}(curl \S+)/m.exec(second.printed()) ?? [];
    await eventually(async () =>
      expect((await run("sh", ["-c", line])).stdout).toContain('"after":{"balance":1249.975,"held":0}'),
    );
    await second.stop();
  });
});
