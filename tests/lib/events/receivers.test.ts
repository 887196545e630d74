import { execFile, execFileSync, spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { marked } from "marked";
import { describe, expect, it, onTestFinished } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";

const folder = createFolder();
symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
const python = { PYTHONPATH: [join(folder, "python"), process.env.PYTHONPATH].filter(Boolean).join(":") };

/** Whether Python's official library is here, or can be installed for this test. */
function hasLibrary(): boolean {
  const target = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--target",
    join(folder, "python"),
    "standardwebhooks==1.1.0",
  ];
  const tries = [["-c", "import standardwebhooks"], target];
  return tries.some((arguments_) => {
    try {
      execFileSync("python3", arguments_, { stdio: "ignore", env: { ...process.env, ...python } });
      return true;
    } catch {
      return false;
    }
  });
}

describe("the sample receivers of /docs/webhooks", async () => {
  const { environment } = await startStage(engines[0] as Engine);
  const service = await startService(environment);
  const { text } = await service.ask("/docs/webhooks.md");
  const samples = new Map(
    marked
      .lexer(text)
      .flatMap((token) => (token.type === "code" ? [[String(token.lang), String(token.text)]] : [])),
  );
  const sample = (language: string) => samples.get(language) ?? "";

  const programs: [string, string, string][] = [["ts", "receiver.mjs", process.execPath]];
  if (hasLibrary()) programs.push(["python", "receiver.py", "python3"]);
  else
    process.stdout.write("The Python receiver is left out: its official library cannot be installed here.\n");

  it("are accepted by TypeScript's compiler, which is strict", async () => {
    writeFileSync(join(folder, "typed.mts"), sample("ts"));
    const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--types", "node"];
    const parameters = [resolve("node_modules/typescript/bin/tsc"), ...options, "typed.mts"];
    const told = promisify(execFile)(process.execPath, parameters, { cwd: folder }).catch((failed) => failed);
    expect((await told).stdout).toBe("");
  });

  it.each(programs)("verify what comes with the official library, in %s", async (language, name, program) => {
    const file = join(folder, name);
    writeFileSync(file, sample(language));
    const port = await reservePort();
    const url = `http://127.0.0.1:${port}/events`;
    const { id, secret } = await service.adminJson<{ id: string; secret: string }>("webhook", "add", url);
    const env = { ...process.env, ...python, PORT: String(port), WEBHOOK_SECRET: secret };
    const child = spawn(program, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => {
      child.kill();
    });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    await eventually(async () => expect((await service.admin("webhook", "test", id)).code).toBe(0));
    const account = await service.adminJson<{ id: string }>("account", "add", `${language}@example.com`);
    await eventually(() => expect(printed).toContain(`account.created ${account.id}\n`));
    const forged = ["-s", "-o", join(folder, "out"), "-w", "%{http_code}", "-d", "{}", url];
    expect((await promisify(execFile)("curl", forged)).stdout).toBe("401");
    await service.admin("webhook", "remove", id);
  });
});
